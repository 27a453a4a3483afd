#!/usr/bin/env bash
# Writes every sample of this folder, once and never again: make.sh FOLDER PYTHON
# (an empty folder, and a Python that finds shuffledp of edition 5)
set -euo pipefail
cd "$1"; python=$2
shuffledp() { "$python" -m shuffledp "$@" > /dev/null; }

{
    echo answer,region,age,word
    for i in $(seq 900); do
        echo "$([ $((i % 3)) = 0 ] && echo yes || echo no),$([ $((i % 2)) = 0 ] && echo north || echo south),$((18 + i % 70)),$([ $((i % 4)) = 0 ] && echo ab || echo ba)"
    done
} > people.csv
printf 'a\nb\n' > tokens.txt
promise="--epsilon 2 --delta 1e-4"
shuffledp histogram people.csv --column answer --categories yes,no --protocol fakes $promise --out fakes
shuffledp histogram people.csv --column answer --categories yes,no --protocol dummies $promise --out dummies
shuffledp count people.csv --column answer --value yes $promise --out count
shuffledp sum people.csv --column age --lower 0 --upper 120 --messages 12 $promise --out split
shuffledp crosstab people.csv --column region --column answer --categories north,south --categories yes,no --by region $promise --out crosstab
shuffledp quantile people.csv --column age --lower 0 --upper 120 --bins 12 --at 0.25,0.5 --range 20:60 $promise --out quantile
shuffledp quantile people.csv --column age --lower 0 --upper 128 --bins 128 $promise --out levels
shuffledp top people.csv --column word --k 2 --longest 2 --tokens tokens.txt $promise --out top
shuffledp track new series --task histogram --categories yes,no --n 900 --weeks 3 $promise \
    --ledger budget.sqlite --population people --limit-epsilon 3 --limit-delta 1e-3
shuffledp track add series people.csv --column answer
rm -f people.csv tokens.txt
find . -name '*.png' -delete
find . -name page.html -exec gzip -n9 {} \;
