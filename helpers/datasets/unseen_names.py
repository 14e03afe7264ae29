"""Names for questions that nothing can answer: places, medal events, parts of invented persons.

Places are those with a National Olympic Committee, in everyday English; events are a selection of
the programme of the Games of Paris 2024. The parts of persons were chosen so that hardly any three
of them belong to somebody.
"""


def listed(text: str, separator: str | None = None) -> tuple[str, ...]:
    """Return the words of a text, or its parts between separators, line ends being spaces.

    >>> listed("a b"), listed("a b; c", "; ")
    (('a', 'b'), ('a b', 'c'))
    """
    return tuple(" ".join(text.split()).split(separator))


PLACES = listed(
    """
Afghanistan; Albania; Algeria; American Samoa; Andorra; Angola; Antigua and Barbuda; Argentina;
Armenia; Aruba; Australia; Austria; Azerbaijan; the Bahamas; Bahrain; Bangladesh; Barbados;
Belarus; Belgium; Belize; Benin; Bermuda; Bhutan; Bolivia; Bosnia and Herzegovina; Botswana;
Brazil; the British Virgin Islands; Brunei; Bulgaria; Burkina Faso; Burundi; Cambodia; Cameroon;
Canada; Cape Verde; the Cayman Islands; the Central African Republic; Chad; Chile; China;
Chinese Taipei; Colombia; Comoros; the Republic of the Congo; the Democratic Republic of the
Congo; the Cook Islands; Costa Rica; Croatia; Cuba; Cyprus; the Czech Republic; Denmark;
Djibouti; Dominica; the Dominican Republic; East Timor; Ecuador; Egypt; El Salvador; Equatorial
Guinea; Eritrea; Estonia; Eswatini; Ethiopia; Fiji; Finland; France; Gabon; the Gambia; Georgia;
Germany; Ghana; Great Britain; Greece; Grenada; Guam; Guatemala; Guinea; Guinea-Bissau; Guyana;
Haiti; Honduras; Hong Kong; Hungary; Iceland; India; Indonesia; Iran; Iraq; Ireland; Israel;
Italy; Ivory Coast; Jamaica; Japan; Jordan; Kazakhstan; Kenya; Kiribati; Kosovo; Kuwait;
Kyrgyzstan; Laos; Latvia; Lebanon; Lesotho; Liberia; Libya; Liechtenstein; Lithuania;
Luxembourg; Madagascar; Malawi; Malaysia; Maldives; Mali; Malta; the Marshall Islands;
Mauritania; Mauritius; Mexico; Micronesia; Moldova; Monaco; Mongolia; Montenegro; Morocco;
Mozambique; Myanmar; Namibia; Nauru; Nepal; the Netherlands; New Zealand; Nicaragua; Niger;
Nigeria; North Korea; North Macedonia; Norway; Oman; Pakistan; Palau; Palestine; Panama; Papua
New Guinea; Paraguay; Peru; the Philippines; Poland; Portugal; Puerto Rico; Qatar; Romania;
Russia; Rwanda; Saint Kitts and Nevis; Saint Lucia; Saint Vincent and the Grenadines; Samoa; San
Marino; São Tomé and Príncipe; Saudi Arabia; Senegal; Serbia; Seychelles; Sierra Leone;
Singapore; Slovakia; Slovenia; the Solomon Islands; Somalia; South Africa; South Korea; South
Sudan; Spain; Sri Lanka; Sudan; Suriname; Sweden; Switzerland; Syria; Tajikistan; Tanzania;
Thailand; Togo; Tonga; Trinidad and Tobago; Tunisia; Turkey; Turkmenistan; Tuvalu; Uganda;
Ukraine; the United Arab Emirates; the United States; the United States Virgin Islands; Uruguay;
Uzbekistan; Vanuatu; Venezuela; Vietnam; Yemen; Zambia; Zimbabwe
""",
    "; ",
)

_BOTH = {
    "athletics": """
100 metres; 200 metres; 400 metres; 800 metres; 1500 metres; 5000 metres; 10,000 metres;
marathon; 400 metres hurdles; 3000 metres steeplechase; 4 × 100 metres relay; 4 × 400 metres
relay; 20 kilometres walk; high jump; pole vault; long jump; triple jump; shot put; discus
throw; hammer throw; javelin throw
""",
    "swimming": """
50 metre freestyle; 100 metre freestyle; 200 metre freestyle; 400 metre freestyle; 800 metre
freestyle; 1500 metre freestyle; 100 metre backstroke; 200 metre backstroke; 100 metre
breaststroke; 200 metre breaststroke; 100 metre butterfly; 200 metre butterfly; 200 metre
individual medley; 400 metre individual medley; 4 × 100 metre freestyle relay; 4 × 200 metre
freestyle relay; 4 × 100 metre medley relay; 10 kilometre marathon
""",
    "diving": "3 metre springboard; 10 metre platform; synchronised 10 metre platform",
    "rowing": """
single sculls; double sculls; quadruple sculls; coxless pair; coxless four; eight; lightweight
double sculls
""",
    "track cycling": "sprint; keirin; omnium; madison; team sprint; team pursuit",
    "cycling": "road race; road time trial; cross-country mountain bike race; BMX race",
    "fencing": """
individual épée; individual foil; individual sabre; team épée; team foil; team sabre
""",
    "artistic gymnastics": "team all-around; individual all-around; floor exercise; vault",
    "canoeing": """
slalom K-1; slalom C-1; kayak cross; K-2 500 metres; K-4 500 metres; C-2 500 metres
""",
    "archery": "individual; team",
    "shooting": """
10 metre air pistol; 10 metre air rifle; 50 metre rifle three positions; trap; skeet
""",
    "tennis": "singles; doubles",
    "table tennis": "singles; team",
    "badminton": "singles; doubles",
    "golf": "individual",
    "triathlon": "individual",
    "skateboarding": "street; park",
    "surfing": "shortboard",
    "sport climbing": "boulder and lead combined; speed",
    "ball sport": "football; handball; hockey; volleyball; water polo; basketball; rugby sevens",
}
EVENTS = tuple(
    f"{who} {event}" if sport == "ball sport" else f"{who} {event} in {sport}"
    for sport, events in _BOTH.items()
    for who in ("men's", "women's")
    for event in listed(events, "; ")
)

FIRST = listed(
    """
Abelard Alvina Ambrose Anselm Aurelio Balbina Bartel Benedikta Blanka Bronwen Calixta Casimir
Celestino Clothilde Cosima Crispin Dagny Damaris Delphina Desmond Dorothea Eberhard Edda Elspeth
Emerick Erlinda Eudora Evander Fabiola Fausto Felicitas Fergus Florian Frideswide Gaspard Gerda
Gideon Ginevra Godfrey Griselda Gunnar Hadrian Hedwig Hesper Hildegard Ignatius Ilario Imelda
Ingrid Isidore Jacinta Jareth Joachim Jocasta Kaspar Katinka Kirsi Lavinia Leander Leocadia
Lorcan Ludmila Lysander Magnus Marcelline Matthias Melisande Merrick Minerva Mirabel Nadir
Nerissa Nicodemus Odile Olympia Orsino Ottilie Pascoe Perpetua Philippa Quentin Radomir Reinhild
Rosalba Rupert Saskia Sebald Seraphina Sigmund Solveig Tancred Thekla Theodora Tiberio Ursula
Valborg Vasilisa Wendelin Xanthe Zenobia
"""
)
MIDDLE = listed(
    """
Aldous Amity Arden Ashby Aubrey Bellamy Birch Blaise Bramble Briar Cadence Calder Carmel Cedar
Clement Clover Coral Corwin Dale Darcy Dawn Dell Drake Eden Ellery Ember Everard Faith Fenn Fern
Fielding Flint Forrest Frost Gale Garland Glen Grove Hale Harbour Haven Hazel Heath Hollis Honor
Hope Hyacinth Indigo Iris Ivory Jasper Jewel Juniper Keld Lake Lark Laurel Linden Lorne Lowell
Lyric Maple Marigold Marlow Mercy Merle Moss Myrtle North Oak Ocean Opal Orchard Page Pearl Pine
Prior Quill Rain Reed Ridge River Robin Rowan Sable Sage Sorrel Spring Star Sterling Summer
Tamsin Thorne Vale Verity West Wilder Winter Wren Yarrow
"""
)
LAST = listed(
    """
Abernethy Achterberg Adeyinka Almqvist Anagnostou Arbuthnot Bakshi Balogun Barrowclough
Bezuidenhout Bjornstad Blackadder Brankovic Broadbent Castellanos Chakrabarti Cholmondeley
Ciesielski Coppersmith Dalrymple Debruyne Dziedzic Eikelboom Eskildsen Etxeberria Falkenrath
Featherstone Fjeldstad Fotheringham Galbraith Gooseman Grzybowski Gwilliam Haraldsen Hathersage
Heikkinen Hollingworth Ihejirika Inchbald Jagielka Jorgensdatter Kaczmarczyk Karapetyan Kilbride
Knatchbull Kristoffersen Kwiatek Lachapelle Langstaff Leszczynski Lillywhite Lundqvist
Maccrimmon Makhathini Marchbanks Mbatha Mendizabal Mikkelborg Montefiore Mukhopadhyay Nakashima
Ndiaye Nieuwenhuis Nwachukwu Oberholzer Ogunleye Okonjo Ollerenshaw Ostrander Oyelaran Papadakis
Pemberly Pietrangeli Postlethwaite Quackenbush Raghunathan Ramsbottom Rautavaara Redfearn
Rosenqvist Saltonstall Sandoval Satterthwaite Schwarzkopf Skjelbred Sobczak Stellenbosch
Swarbrick Szymborski Tarkovich Thistlewood Tregarthen Tsvetkov Uchenna Vandermeulen Villalobos
Wadsworth Wieczorek Winterbottom Zubizarreta
"""
)
OTHERS = listed(
    """
heart failure; pneumonia; a car accident; old age; a stroke; drowning; cancer; malaria; a fall;
influenza; The Silver Road; Midnight Garden; Broken Compass; First Light; Paper Boats; Winter
Letters; The Long Tide; Glass Houses; Red Lanterns; Ordinary Days; The Last Ferry; Small Hours;
A Quiet Street; The Orchard Keeper; Northbound; painter; engineer; lawyer; physician; teacher;
composer; novelist; farmer; architect; botanist; actor; politician; translator; sculptor;
photographer
""",
    "; ",
)
