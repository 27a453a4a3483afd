#!/usr/bin/env bash
# Writes every sample of this folder, once and never again: make.sh FOLDER PYTHON
# (an empty folder, and a Python that finds shuffledp of edition 6)
set -euo pipefail
cd "$1"; python=$2
shuffledp() { "$python" -m shuffledp "$@" > /dev/null; }

{
    echo answer,region,age,word
    for i in $(seq 900); do
        echo "$([ $((i % 3)) = 0 ] && echo yes || echo no),$([ $((i % 2)) = 0 ] && echo north || echo south),$((18 + i % 70)),$([ $((i % 4)) = 0 ] && echo ab || echo ba)"
    done
} > people.csv
awk 'BEGIN { print "word"; for (i = 0; i < 100000; i++) print (i % 3 ? "ab" : "ba") }' > words.csv
promise="--epsilon 2 --delta 1e-4"
shuffledp histogram people.csv --column answer --categories yes,no $promise --out histogram
shuffledp mean people.csv --column age --lower 0 --upper 120 $promise --out mean
shuffledp crosstab people.csv --column region --column answer --categories north,south --categories yes,no --by region $promise --out crosstab
shuffledp histogram people.csv --column answer --categories yes,no --protocol fakes --light-epsilon0 6 $promise --out light
shuffledp quantile people.csv --column age --lower 0 --upper 120 --bins 80 --at 0.25,0.5 --range 21:60 --protocol dummies $promise --out tree
shuffledp top words.csv --column word --k 2 --longest 6 --epsilon 1 --delta 1e-6 --out top
rm -f people.csv words.csv
find . -name '*.png' -delete
find . -name page.html -exec gzip -n9 {} \;
