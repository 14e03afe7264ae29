"""Build the facts of the atlas, always the same: ``python -m notebooks.atlas.facts``.

Into `helpers/datasets/data`; `atlas_corrections.csv` corrects or drops facts, with a
reason each.
"""

import argparse
import gzip
import io
import sys
from pathlib import Path

import pandas as pd

from helpers import UserError
from notebooks.atlas import sources
from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.atlas.sources import (
    DATA_FOLDER,
    corrections_by_relation,
    name_without_accents_or_case,
)

ObjectBySubject = dict[str, str]

CONTINENT_NAMES = {"AF": "Africa", "AS": "Asia", "EU": "Europe"}
CONTINENT_NAMES |= {"NA": "North America", "OC": "Oceania", "SA": "South America"}
# First-level subdivisions are taken from these countries, whose names need little
# cleaning.
DIVIDED_COUNTRIES = (
    *("US", "CA", "MX", "BR", "AR", "CO", "AU", "IN", "JP", "TR", "NG", "ZA"),
    *("DE", "AT", "CH", "NL", "FR", "IT", "ES"),
)
NON_PROVINCE_TYPES = ("Outlying area", "Country", "Special municipality", "City")


def rows_of_unambiguous_names(table: pd.DataFrame, ratio: float = 5.0) -> pd.DataFrame:
    """Keep one row a `name`: that of the largest `population`, if it is clearly the largest."""
    ranked = table.sort_values("population", ascending=False, kind="stable")
    key = ranked["name"].map(name_without_accents_or_case)
    second = (
        ranked["population"].groupby(key).shift(-1)
    )  # ranked: the next largest is below
    clear = second.isna() | (ranked["population"] >= ratio * second)
    return ranked[clear & ~key.duplicated()]


def country_relations() -> dict[str, ObjectBySubject]:
    """Return the relations whose subjects are countries, and P1376 whose objects are."""
    table = sources.countries()
    real = table[table["alpha_2"] != ""]
    names, tender = sources.currency_names_and_tender()
    official, demonyms = (
        sources.official_languages_by_country(),
        sources.demonyms_by_country(),
    )
    capitals = table[table["capital"] != ""]
    seats = rows_of_unambiguous_names(
        capitals.assign(country=capitals["name"], name=capitals["capital"])
    )

    def look_up(found: dict) -> ObjectBySubject:
        pairs = zip(table["name"], table["iso"])
        return {name: found[iso] for name, iso in pairs if found.get(iso)}

    def only(found: dict[str, list[str]]) -> dict[str, str]:
        return {iso: values[0] for iso, values in found.items() if len(values) == 1}

    return {
        "P36": _pairs(capitals, "name", "capital"),
        "P1376": _pairs(seats, "capital", "country"),
        "P30": {
            n: CONTINENT_NAMES[c] for n, c in zip(table["name"], table["continent"])
        },
        "P37": look_up(only(official)),
        "P38": look_up({iso: names[code] for iso, code in only(tender).items()}),
        "P474": _pairs(table, "name", "phone"),
        "P297": _pairs(real, "name", "alpha_2"),
        "P298": _pairs(real, "name", "alpha_3"),
        "P299": _pairs(real, "name", "numeric"),
        "P78": _pairs(table, "name", "tld"),
        "P1549": look_up(demonyms),
        "P498": {
            names[code]: code
            for codes in tender.values()
            for code in codes
            if names[code]
        },
    }


def city_relations() -> dict[str, ObjectBySubject]:
    """Return city to country, city to time zone, and place to state, province or region."""
    land = sources.countries().set_index("iso")["name"]
    cities = rows_of_unambiguous_names(sources.cities())
    cities = cities.assign(country=cities["iso"].map(land)).dropna(subset="country")
    served = sources.airports()
    flown = set(
        zip(served["country"], served["city"].map(name_without_accents_or_case))
    )
    capitals = set(sources.countries()["capital"].map(name_without_accents_or_case))
    pairs = [
        (iso, name_without_accents_or_case(name))
        for iso, name in zip(cities["iso"], cities["name"])
    ]
    cities = cities[[pair in flown or pair[1] in capitals for pair in pairs]]
    large = cities.groupby("iso", sort=False).head(4).head(450)
    # Vietnam and Xinjiang are left out: the zone in use there is not the one in the
    # database.
    zoned = cities[~cities["iso"].eq("VN") & ~cities["timezone"].eq("Asia/Urumqi")]
    own = [
        name_without_accents_or_case(n)
        in name_without_accents_or_case(z.replace("_", " "))
        for n, z in zip(zoned["name"], zoned["timezone"])
    ]
    zoned = (
        zoned[~pd.Series(own, index=zoned.index)]
        .groupby("timezone", sort=False)
        .head(3)
    )
    american = cities[cities["iso"] == "US"]
    american = american.assign(state=american["state"].map(sources.us_state_names()))
    american = american[american["population"] >= 40_000].groupby("state").head(6)
    return {
        "P17": _pairs(large, "name", "country"),
        "P421": _pairs(zoned.head(420), "name", "timezone"),
        "P131": _pairs(american, "name", "state") | _provinces(),
    }


def _provinces() -> ObjectBySubject:
    """Provinces of Italy and Spain, departments of France and counties of Ireland: region."""
    lands, cities, table = (
        ["IT", "ES", "FR", "IE"],
        sources.cities(),
        sources.subdivisions(),
    )
    table = table[table["iso"].isin(lands) & (table["parent"] != "")]
    abroad = cities[~cities["iso"].isin(lands) & (cities["population"] > 100_000)]
    table = table[
        ~table["name"]
        .map(name_without_accents_or_case)
        .isin(set(abroad["name"].map(name_without_accents_or_case)))
    ]
    return _pairs(table, "name", "parent")


def subdivision_relations() -> dict[str, ObjectBySubject]:
    """Return first-level subdivision to ISO 3166-2 code, for names that only one of them has."""
    table = sources.subdivisions()
    lands = table.groupby(table["name"].map(name_without_accents_or_case))[
        "iso"
    ].nunique()
    table = table[
        table["name"].map(name_without_accents_or_case).map(lands).eq(1)
        & (table["parent"] == "")
    ]
    table = table[
        table["iso"].isin(DIVIDED_COUNTRIES) & ~table["type"].isin(NON_PROVINCE_TYPES)
    ]
    table = table[~table["iso"].eq("FR") | table["type"].eq("Metropolitan region")]
    land = set(sources.countries()["name"])
    return {"P300": _pairs(table[~table["name"].isin(land)], "name", "code")}


def element_relations() -> dict[str, ObjectBySubject]:
    """Return element to symbol, atomic number, CAS number, year of discovery and discoverer."""
    table = sources.chemical_elements()
    columns = {"P246": "symbol", "P1086": "number", "P231": "cas", "P575": "year"}
    return {
        p: _pairs(table, "name", c)
        for p, c in (columns | {"P61": "discoverer"}).items()
    }


def airport_relations() -> dict[str, ObjectBySubject]:
    """Return airport to IATA code, ICAO code and city served, for the airports of large cities."""
    table = sources.airports()
    cities = sources.cities().sort_values("population", ascending=False, kind="stable")
    cities = cities.rename(columns={"name": "city", "iso": "country"})
    cities["key"], table["key"] = (
        cities["city"].map(name_without_accents_or_case),
        table["city"].map(name_without_accents_or_case),
    )
    cities = cities.drop_duplicates(["country", "key"])
    table = table.drop(columns="city").merge(cities, on=["country", "key"])
    civil = table["name"].str.contains("International") & ~table["name"].str.contains(
        "Base|[(/]"
    )
    table = table[
        civil & (table["name"].str.len() <= 45) & ~table["name"].duplicated(keep=False)
    ]
    table = table.sort_values("population", ascending=False, kind="stable").head(450)
    told = [
        name_without_accents_or_case(c) in name_without_accents_or_case(n)
        for n, c in zip(table["name"], table["city"])
    ]
    return {
        "P238": _pairs(table, "name", "iata"),
        "P239": _pairs(table, "name", "icao"),
        "P931": _pairs(table[~pd.Series(told, index=table.index)], "name", "city"),
    }


def language_relations() -> dict[str, ObjectBySubject]:
    """Return language to ISO 639 codes, writing system and own name; script to ISO 15924 code."""
    table = sources.languages()
    major = table[table["alpha_2"] != ""]
    return {
        "P218": _pairs(major, "name", "alpha_2"),
        "P219": _pairs(major[major["bibliographic"] == ""], "name", "alpha_3"),
        "P220": _pairs(table[table["alpha_2"] == ""], "name", "alpha_3"),
        "P282": _pairs(major, "name", "script"),
        "P1705": _pairs(table, "name", "own_name"),
        "P506": _pairs(sources.writing_scripts(), "name", "code"),
    }


def _pairs(table: pd.DataFrame, subject: str, value: str) -> ObjectBySubject:
    """Two columns as a mapping; a subject that comes twice with two objects is left out."""
    rows = table.loc[
        (table[subject] != "") & (table[value] != ""), [subject, value]
    ].dropna()
    rows = rows.drop_duplicates().drop_duplicates(subject, keep=False)
    return dict(zip(rows[subject], rows[value]))


def collect_facts() -> pd.DataFrame:
    """Return all facts: `fact`, `relation`, `subject`, `object`, sorted by relation and subject."""
    found = country_relations() | city_relations() | subdivision_relations()
    found |= element_relations() | airport_relations() | language_relations()
    fixed, rows = corrections_by_relation(), []
    for relation in sorted(found, key=lambda p: int(p[1:])):
        stray = fixed.get(relation, {}).keys() - found[relation].keys()
        if stray:
            raise UserError(
                f"helpers/datasets/data/atlas_corrections.csv corrects {sorted(stray)} of "
                f"{relation}, which the sources do not have: remove these lines."
            )
        pairs = found[relation] | fixed.get(relation, {})
        kept = sorted(
            (name_without_accents_or_case(s), s, o)
            for s, o in pairs.items()
            if o and name_without_accents_or_case(s) != name_without_accents_or_case(o)
        )
        rows += [
            (f"{relation}-{i:04d}", relation, s, o) for i, (_, s, o) in enumerate(kept)
        ]
    return pd.DataFrame(rows, columns=["fact", "relation", "subject", "object"])


def write_facts(facts: pd.DataFrame, folder: Path) -> None:
    """Write the facts (gzip without a time stamp) and fill in the counts of the relations."""
    text = io.StringIO()
    facts.to_csv(text, index=False, lineterminator="\n")
    packed = gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0)
    (folder / "atlas.csv.gz").write_bytes(packed)
    about = pd.read_csv(
        DATA_FOLDER / "atlas_relations.csv", dtype=str, keep_default_na=False
    )
    groups = facts.groupby("relation")["object"]
    about["n_facts"] = about["relation"].map(groups.size())
    about["n_objects"] = about["relation"].map(groups.nunique())
    about.to_csv(folder / "atlas_relations.csv", index=False, lineterminator="\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.atlas.facts")
    parser.add_argument(
        "--out", type=Path, default=DATA_FOLDER, help="folder to write into"
    )
    folder = parser.parse_args(arguments).out
    return exit_status_of_work(lambda: _build(folder))


def _build(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        facts = collect_facts()
        write_facts(facts, folder)
    except ModuleNotFoundError as error:
        raise UserError(
            f"The package {error.name} is missing: install what rebuilding the facts needs with "
            "`pip install -r notebooks/atlas/requirements.txt`."
        ) from error
    except OSError as error:
        raise UserError(f"The facts cannot be written to {folder}: {error}.") from error
    print(
        f"{len(facts)} facts in {facts['relation'].nunique()} relations written to {folder}"
    )


if __name__ == "__main__":
    sys.exit(main())
