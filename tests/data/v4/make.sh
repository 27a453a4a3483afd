#!/usr/bin/env bash
# Writes every sample of this folder. Run each half with the version that is to be kept, and never again:
#   make.sh pages FOLDER PYTHON      an empty folder, and a Python that finds shuffledp of edition 3
#   make.sh network FOLDER PYTHON    the same for edition 4, the first with collections over the network
set -euo pipefail
what=$1; cd "$2"; python=$3
shuffledp() { "$python" -m shuffledp "$@" > /dev/null; }

if [ "$what" = pages ]; then
    { echo answer,age; for i in $(seq 400); do echo "$([ $((i % 3)) = 0 ] && echo yes || echo no),$((18 + i % 70))"; done; } > people.csv
    printf 'yes\nno\n' > answers.txt
    promise="--epsilon 1 --delta 1e-4"
    shuffledp histogram people.csv --column answer --categories answers.txt $promise --title "Yes or no" \
        --ledger budget.sqlite --population people --limit-epsilon 3 --limit-delta 1e-3 --out binary
    shuffledp histogram people.csv --column answer --categories answers.txt $promise --honest 90% --rounds 3 --out rounds
    shuffledp mean people.csv --column age --lower 20 --upper 60 --clip $promise --out mean-clip
    shuffledp frequency people.csv --column age --domain 90 $promise --out frequency
else
    shuffledp design histogram --categories yes,no --n 200 --honest 100 --rounds 2 --epsilon 2 --delta 1e-2 --out design.json
    shuffledp collection new --design design.json --shuffler http://127.0.0.1:8000 --question "Tea?" --round 2 --out study
    "$python" - <<'PY'
from pathlib import Path

from shuffledp.collection.network.collection_file import read_collection
from shuffledp.collection.network.sealed_file import SealedHeader
from shuffledp.collection.network.sealing import Envelopes

collection = read_collection(Path("study/collection.json"))
sealing = Envelopes(collection)
envelopes = sorted([*sealing.seal(collection.encoder.encode([0] * 90 + [1] * 60)), bytes(49), bytes([255] * 49)])
header = SealedHeader(collection.digest, len(envelopes), sealing.length)
Path("sealed.bin").write_bytes(header.content + b"".join(envelopes))
PY
    shuffledp open study sealed.bin --out network
fi
rm -f people.csv answers.txt design.json
for folder in */; do
    rm -f "$folder"/estimates.png
    if [ -f "$folder/page.html" ]; then gzip -n9 "$folder/page.html"; fi
done
