"""From files to counted reports: people's values in, randomized reports, shuffled, added up.
Nothing here knows what privacy that gives.

formats          CSV, Parquet and Arrow, in batches
memory           data frames, arrays and lists, likewise
profile          a first look at a table
columns          one column of a table, or several joined
cleaning         what of a messy table is forgiven
values           its values as the randomizer takes them: places among categories, or numbers
spelled          words as rows of symbols, for a search
spool            rows kept for later, in memory and then on disk
people           one row for each person
reports          the file that clients send and the shuffler releases
counted_reports  what an engine hands to the analyst instead: their counts
permutation      many files of reports to one, in a uniformly random order, larger than memory
tallying         the same in one process: reports are added up as they are made, and never stored
"""
