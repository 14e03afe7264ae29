"""Build the facts of the atlas, always the same: ``python -m notebooks.atlas.facts``.

Into `helpers/datasets/data`; `atlas_corrections.csv` corrects or drops facts, with a
reason each.
"""

import argparse
import gzip
import io
import sys
from functools import partial
from itertools import chain
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

CONTINENT_NAMES = {
    "AF": "Africa",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}
# First-level subdivisions are taken from these countries, whose names need little
# cleaning.
DIVIDED_COUNTRIES = (
    "US",
    "CA",
    "MX",
    "BR",
    "AR",
    "CO",
    "AU",
    "IN",
    "JP",
    "TR",
    "NG",
    "ZA",
    "DE",
    "AT",
    "CH",
    "NL",
    "FR",
    "IT",
    "ES",
)
NON_PROVINCE_TYPES = ("Outlying area", "Country", "Special municipality", "City")


def rows_of_unambiguous_names(table: pd.DataFrame, ratio: float = 5.0) -> pd.DataFrame:
    """Keep one row a `name`: that of the clearly largest `population`, if there is."""
    ranked = table.sort_values("population", ascending=False, kind="stable")
    key = ranked["name"].map(name_without_accents_or_case)
    # Ranked, the next largest place of a name is the one below.
    second = ranked["population"].groupby(key).shift(-1)
    clear = second.isna() | (ranked["population"] >= ratio * second)
    return ranked[clear & ~key.duplicated()]


def country_relations() -> dict[str, ObjectBySubject]:
    """Return the relations whose subjects are countries, and P1376, their objects."""
    table = sources.countries()
    with_code = table[table["alpha_2"] != ""]
    capitals = table[table["capital"] != ""]
    seats = rows_of_unambiguous_names(
        capitals.assign(country=capitals["name"], name=capitals["capital"])
    )
    currency_names, tender = sources.currency_names_and_tender()
    currency_by_country = _only_values(tender)
    for iso, code in currency_by_country.items():
        currency_by_country[iso] = currency_names[code]
    code_by_currency = {}
    for code in chain.from_iterable(tender.values()):
        if currency_names[code]:
            code_by_currency[currency_names[code]] = code
    languages = _only_values(sources.official_languages_by_country())
    return {
        "P36": _pairs(capitals, "name", "capital"),
        "P1376": _pairs(seats, "capital", "country"),
        "P30": _continents(table),
        "P37": _by_name_of_country(table, languages),
        "P38": _by_name_of_country(table, currency_by_country),
        "P474": _pairs(table, "name", "phone"),
        "P297": _pairs(with_code, "name", "alpha_2"),
        "P298": _pairs(with_code, "name", "alpha_3"),
        "P299": _pairs(with_code, "name", "numeric"),
        "P78": _pairs(table, "name", "tld"),
        "P1549": _by_name_of_country(table, sources.demonyms_by_country()),
        "P498": code_by_currency,
    }


def _only_values(values_by_key: dict[str, list[str]]) -> dict[str, str]:
    """Return the value of each key that has exactly one."""
    return {key: values[0] for key, values in values_by_key.items() if len(values) == 1}


def _by_name_of_country(
    table: pd.DataFrame, value_by_iso: dict[str, str]
) -> ObjectBySubject:
    """Return values by the names of the countries instead of their codes."""
    value_by_name = {}
    for name, iso in zip(table["name"], table["iso"], strict=True):
        value = value_by_iso.get(iso)
        if value:
            value_by_name[name] = value
    return value_by_name


def _continents(table: pd.DataFrame) -> ObjectBySubject:
    """Return the continent of each country."""
    pairs = zip(table["name"], table["continent"], strict=True)
    return {name: CONTINENT_NAMES[code] for name, code in pairs}


def city_relations() -> dict[str, ObjectBySubject]:
    """Return city to country and time zone, and place to state, province or region."""
    cities = _well_known_cities()
    large = cities.groupby("iso", sort=False).head(4).head(450)
    # Vietnam and Xinjiang are left out: the zone in use there is not the one in the
    # database.
    zoned = cities[~cities["iso"].eq("VN") & ~cities["timezone"].eq("Asia/Urumqi")]
    zone_names = zoned["timezone"].str.replace("_", " ")
    zoned = zoned[~_is_contained(zoned["name"], zone_names)]
    zoned = zoned.groupby("timezone", sort=False).head(3)
    american = cities[cities["iso"] == "US"]
    american = american.assign(state=american["state"].map(sources.us_state_names()))
    american = american[american["population"] >= 40_000].groupby("state").head(6)
    return {
        "P17": _pairs(large, "name", "country"),
        "P421": _pairs(zoned.head(420), "name", "timezone"),
        "P131": _pairs(american, "name", "state") | _provinces(),
    }


def _well_known_cities() -> pd.DataFrame:
    """Return the cities of one country each that are capitals or have an airport."""
    country_names = sources.countries().set_index("iso")["name"]
    cities = rows_of_unambiguous_names(sources.cities())
    cities = cities.assign(country=cities["iso"].map(country_names))
    cities = cities.dropna(subset="country")
    keys = cities["name"].map(name_without_accents_or_case)
    airports = sources.airports()
    airport_keys = airports["city"].map(name_without_accents_or_case)
    airport_cities = pd.MultiIndex.from_arrays([airports["country"], airport_keys])
    has_airport = pd.MultiIndex.from_arrays([cities["iso"], keys]).isin(airport_cities)
    capitals = sources.countries()["capital"].map(name_without_accents_or_case)
    return cities[has_airport | keys.isin(capitals)]


def _is_contained(names: pd.Series, texts: pd.Series) -> pd.Series:
    """Return where the text of a row contains its name, accents and case aside."""
    keys = names.map(name_without_accents_or_case)
    texts = texts.map(name_without_accents_or_case)
    contained = [key in text for key, text in zip(keys, texts, strict=True)]
    return pd.Series(contained, index=names.index, dtype=bool)


def _provinces() -> ObjectBySubject:
    """Provinces of Italy and Spain, departments of France, counties of Ireland."""
    countries = ["IT", "ES", "FR", "IE"]
    cities = sources.cities()
    table = sources.subdivisions()
    table = table[table["iso"].isin(countries) & (table["parent"] != "")]
    abroad = cities[~cities["iso"].isin(countries) & (cities["population"] > 100_000)]
    keys_abroad = abroad["name"].map(name_without_accents_or_case)
    keys = table["name"].map(name_without_accents_or_case)
    return _pairs(table[~keys.isin(keys_abroad)], "name", "parent")


def subdivision_relations() -> dict[str, ObjectBySubject]:
    """Return first-level subdivision to ISO 3166-2 code, where its name is alone."""
    table = sources.subdivisions()
    keys = table["name"].map(name_without_accents_or_case)
    n_countries = table.groupby(keys)["iso"].nunique()
    table = table[keys.map(n_countries).eq(1) & (table["parent"] == "")]
    of_country = table["iso"].isin(DIVIDED_COUNTRIES)
    table = table[of_country & ~table["type"].isin(NON_PROVINCE_TYPES)]
    table = table[~table["iso"].eq("FR") | table["type"].eq("Metropolitan region")]
    is_country = table["name"].isin(sources.countries()["name"])
    return {"P300": _pairs(table[~is_country], "name", "code")}


def element_relations() -> dict[str, ObjectBySubject]:
    """Return element to symbol, atomic and CAS number, year and discoverer."""
    table = sources.chemical_elements()
    return {
        "P246": _pairs(table, "name", "symbol"),
        "P1086": _pairs(table, "name", "number"),
        "P231": _pairs(table, "name", "cas"),
        "P575": _pairs(table, "name", "year"),
        "P61": _pairs(table, "name", "discoverer"),
    }


def airport_relations() -> dict[str, ObjectBySubject]:
    """Return airport to IATA and ICAO code and city, for airports of large cities."""
    cities = sources.cities().sort_values("population", ascending=False, kind="stable")
    cities = cities.rename(columns={"name": "city", "iso": "country"})
    cities["key"] = cities["city"].map(name_without_accents_or_case)
    cities = cities.drop_duplicates(["country", "key"])
    table = sources.airports()
    table["key"] = table["city"].map(name_without_accents_or_case)
    table = table.drop(columns="city").merge(cities, on=["country", "key"])
    names = table["name"]
    civil = names.str.contains("International") & ~names.str.contains("Base|[(/]")
    short = names.str.len() <= 45
    table = table[civil & short & ~names.duplicated(keep=False)]
    table = table.sort_values("population", ascending=False, kind="stable").head(450)
    not_in_name = table[~_is_contained(table["city"], table["name"])]
    return {
        "P238": _pairs(table, "name", "iata"),
        "P239": _pairs(table, "name", "icao"),
        "P931": _pairs(not_in_name, "name", "city"),
    }


def language_relations() -> dict[str, ObjectBySubject]:
    """Return language to ISO 639 codes, script and own name; script to its code."""
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
    """Two columns as a mapping, without the subjects that have two objects."""
    filled = (table[subject] != "") & (table[value] != "")
    rows = table.loc[filled, [subject, value]].dropna()
    rows = rows.drop_duplicates().drop_duplicates(subject, keep=False)
    return dict(zip(rows[subject], rows[value], strict=True))


def collect_facts() -> pd.DataFrame:
    """Return `fact`, `relation`, `subject`, `object`, by relation and subject."""
    pairs_by_relation = country_relations() | city_relations() | subdivision_relations()
    pairs_by_relation |= element_relations() | airport_relations()
    pairs_by_relation |= language_relations()
    corrections = corrections_by_relation()
    rows = []
    for relation in sorted(pairs_by_relation, key=_number_of_relation):
        pairs = pairs_by_relation[relation]
        corrected = corrections.get(relation, {})
        stray = corrected.keys() - pairs.keys()
        if stray:
            raise UserError(
                "helpers/datasets/data/atlas_corrections.csv corrects "
                f"{sorted(stray)} of {relation}, which the sources do not have: "
                "remove these lines."
            )
        rows += _facts_of_relation(relation, pairs | corrected)
    return pd.DataFrame(rows, columns=["fact", "relation", "subject", "object"])


def _number_of_relation(relation: str) -> int:
    """Return the number in a relation's identifier: 36 of "P36"."""
    return int(relation.removeprefix("P"))


def _facts_of_relation(
    relation: str, pairs: ObjectBySubject
) -> list[tuple[str, str, str, str]]:
    """Return numbered facts, without those that are dropped or name one thing twice."""
    keyed = []
    for subject, value in pairs.items():
        key = name_without_accents_or_case(subject)
        if value and key != name_without_accents_or_case(value):
            keyed.append((key, subject, value))
    facts = []
    for number, (_, subject, value) in enumerate(sorted(keyed)):
        facts.append((f"{relation}-{number:04d}", relation, subject, value))
    return facts


def write_facts(facts: pd.DataFrame, folder: Path) -> None:
    """Write the facts (gzip without a time stamp) and the counts of the relations."""
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
    return exit_status_of_work(partial(_build, folder))


def _build(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        facts = collect_facts()
        write_facts(facts, folder)
    except ModuleNotFoundError as error:
        raise UserError(
            f"The package {error.name} is missing: install what rebuilding the facts "
            "needs with `pip install -r notebooks/atlas/requirements.txt`."
        ) from error
    except OSError as error:
        raise UserError(f"The facts cannot be written to {folder}: {error}.") from error
    n_relations = facts["relation"].nunique()
    print(f"{len(facts)} facts in {n_relations} relations written to {folder}")


if __name__ == "__main__":
    sys.exit(main())
