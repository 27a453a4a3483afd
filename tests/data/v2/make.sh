#!/usr/bin/env bash
# Writes every sample of this folder. Run it with the version that is to be kept, and never again:
#   make.sh FOLDER PYTHON     an empty folder, and a Python that finds that version of shuffledp
set -euo pipefail
cd "$1"
python=$2
shuffledp() { "$python" -m shuffledp "$@" > /dev/null; }

"$python" - <<'PY'
from pathlib import Path
import random

draw = random.Random(2)
cities = ["Lisbon", "Porto", "Braga", "Évora", "Faro"]
rows, messy = ["id,city,answer,age,page,number"], ["who;town;income"]
for i in range(400):
    city = "" if i % 40 == 7 else draw.choices(cities, [8, 5, 3, 2, 1])[0]
    row = (i, city, draw.choice(["yes", "no", "no"]), draw.randrange(18, 96), f"page {draw.randrange(40):02d}", draw.randrange(10_050))
    rows.append(",".join(map(str, row)))
    town = draw.choice(["N/A", city.upper() or "-", f"  {city.lower() or '-'} "])
    messy.append(f"{i * 9 // 10};{town};{draw.randrange(9)}.{draw.randrange(1000):03d},{draw.randrange(10)}")
Path("people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
Path("half.csv").write_text("\n".join([rows[0], *rows[1:201]]) + "\n", encoding="utf-8")
Path("rest.csv").write_text("\n".join([rows[0], *rows[201:]]) + "\n", encoding="utf-8")
Path("messy.csv").write_text("\n".join(messy) + "\n", encoding="latin-1")
Path("cities.txt").write_text("\n".join(cities) + "\n", encoding="utf-8")
Path("pages.txt").write_text("".join(f"page {i:02d}\n" for i in range(40)), encoding="utf-8")
PY

promise="--epsilon 1 --delta 1e-6"
app="--ledger budget.sqlite --population app-users"
others="--ledger budget.sqlite --population others"
city="--column city --categories cities.txt"
page="--column page --categories pages.txt"

# Pages. The one of 400 yes or no is verified in full by the tests, the others once, when they were made.
shuffledp histogram people.csv --column answer --categories yes,no $promise --out binary
shuffledp histogram people.csv $city $promise --title "Cities of 2026" $app --limit-epsilon 6 --limit-delta 1e-5 --out histogram
shuffledp histogram people.csv --column city --categories Lisbon,Porto --other elsewhere --missing "no answer" $promise --out histogram-other
shuffledp histogram people.csv $city $promise --honest 90% --rounds 3 $others --limit-epsilon 4 --limit-delta 1e-4 --out histogram-rounds
shuffledp histogram people.csv --column city --learn-categories $promise --out histogram-learned
shuffledp histogram messy.csv --column town --categories lisbon,porto,braga,évora,faro --other "-" --na N/A --strip --ignore-case \
    --encoding latin-1 --id who --keep random --epsilon 1.5 --delta 1e-5 --out histogram-cleaned
shuffledp mean people.csv --column age --lower 0 --upper 120 $promise $app --out mean
shuffledp mean people.csv --column age --lower 20 --upper 60 --clip $promise $others --out mean-clip
shuffledp mean messy.csv --column income --lower 0 --upper 9000 --thousands . --decimal , --encoding latin-1 $promise --rounds 2 --out mean-rounds
shuffledp frequency people.csv $page --epsilon 1 --delta 1e-5 $app --out frequency-hadamard
for method in hashing subset unary; do
    shuffledp frequency people.csv $page $promise --method $method --out frequency-$method
done
shuffledp frequency people.csv $page --rounds 4 --epsilon 2 --delta 1e-6 --out frequency-rounds
shuffledp frequency people.csv --column number --domain 10050 $promise --out frequency-large
shuffledp histogram people.csv --column answer --categories yes,no $promise --out replaced
shuffledp histogram people.csv --column answer --categories yes,no --epsilon 0.7 --delta 1e-5 $others --out replaced --force

# Stage by stage: two batches with ids, of which the shuffler keeps what the budget allows; and one report of each shape.
shuffledp design histogram --categories cities.txt --other Faro --n 400 --honest 350 $promise --out design-histogram.json
shuffledp design mean --lower 0 --upper 120 --n 400 --rounds 2 $promise --out design-mean.json
shuffledp encode half.csv --column city --design design-histogram.json --id id --out encoded-histogram-half.parquet
shuffledp encode rest.csv --column city --design design-histogram.json --id id --out encoded-histogram-rest.parquet
shuffledp shuffle encoded-histogram-*.parquet --design design-histogram.json $app --out shuffled-histogram.parquet
shuffledp analyse shuffled-histogram.parquet --design design-histogram.json --title "Shuffled cities" --out analysed
shuffledp encode people.csv --column age --design design-mean.json --out encoded-mean.parquet
shuffledp shuffle encoded-mean.parquet --out shuffled-mean.parquet
for method in hadamard hashing subset unary; do
    shuffledp design frequency --categories pages.txt --method $method --n 400 $promise --out design-$method.json
    shuffledp encode people.csv --column page --design design-$method.json --out encoded-$method.parquet
    shuffledp shuffle encoded-$method.parquet --out shuffled-$method.parquet
done

# What no command does: a seeded release, reports for known values and a known seed, what the shuffled ones count, and a ledger in every state.
"$python" - <<'PY'
import json
from pathlib import Path

import numpy as np

import shuffledp as sdp
from shuffledp.ledger import Entry, Ledger
from shuffledp.pipeline import open_reports, tally_file
from shuffledp.protocols.design import Design
from shuffledp.release.budget import entry_of
from shuffledp.release.question import Question
from shuffledp.release.run import read_design, release
from shuffledp.release.terms import Promise, read_categories
from shuffledp.sampling import source_of

categories = read_categories("yes,no", learn=False, domain=None, other=None, missing=None)
asked = Question(task="histogram", source="people.csv", column="answer", categories=categories).settled()
with asked.values(asked.open()) as values:
    design = asked.design(values.count, Promise(epsilon=1.0, delta=1e-6))
    release(asked, values, design, Path("histogram-seeded"), rng=np.random.default_rng(2026))

drawn = {}
for path in sorted(Path().glob("design-*.json")):
    settled = read_design(path)
    values = np.arange(48) * 2.5 if settled.task == "mean" else np.arange(48) % len(settled.labels)
    drawn[path.name] = settled.encode(values, source_of(np.random.default_rng(2026))).tolist()
Path("drawn.json").write_text(json.dumps(drawn, separators=(",", ":")) + "\n", encoding="utf-8")

tallied = {}
for path in sorted(Path().glob("shuffled-*.parquet")):
    file = open_reports(path)
    protocol = Design.from_json(file.header.design).protocol
    tallied[path.name] = tally_file(file, protocol.tally, check=protocol.randomizer.check_reports).votes.tolist()
Path("tallied.json").write_text(json.dumps(tallied, separators=(",", ":")) + "\n", encoding="utf-8")

ledger, settled = Ledger("budget.sqlite"), read_design(Path("design-mean.json"))
ledger.spend("interrupted", entry_of(settled, "a mean that was begun"), limit_epsilon=2.0, limit_delta=1e-6)
batches = ("0" * 32, "f" * 32)
ledger.spend("interrupted", entry_of(settled, "a mean that was held back", batches), held_back=True)
both = sdp.Accountant().add(sdp.shuffle(sdp.KRR(k=16, epsilon0=2.0), n=10_000), rounds=5)
both = both.add(sdp.shuffle(sdp.Hadamard(k=100, epsilon0=1.0), n=2_000, honest=1_500)).total
made = Entry.of(both, what="two questions at once", design="5" * 64, epsilon=2.5, delta=1e-6)
receipt = ledger.spend("größere Städte", made, limit_epsilon=5.0, limit_delta=1e-6)
ledger.publish(receipt.id, "a" * 64)
PY
shuffledp ledger export budget.sqlite --out budget.json
shuffledp ledger export budget.sqlite --out budget.csv

rm -f people.csv half.csv rest.csv messy.csv cities.txt pages.txt */estimates.png
gzip -n -9 */report.html frequency-large/estimates.csv frequency-large/estimates.json frequency-large/design.json
