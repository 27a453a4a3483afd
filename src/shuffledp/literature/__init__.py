"""What others proved, beside what is certified here."""
