"""Reading and writing files: `read_*` and `write_*`, one file per family of formats.

Everything that comes in is untrusted: an error names file, line and rule, and all errors of a file are reported
at once. Files are replaced whole, so that nothing is ever half written.

What all of them share:

    files        bytes, encodings, compression         jsonl        JSON lines, as rows or as a table
    lines        lines of text and their fields        xml          XML from strangers
    tables/      tables in any form, with one reader
    fields       what people call their fields         names, times names of files, and moments
    links        those that lead out of an evaluation  parts        files, or what a store has in their place

An evaluation, from its folder to what others get of it:

    folder       where everything is, `qassay.toml`    tracks       its table [track]: deadline, limits
    questions    the test set                          runs/        the responses of systems
    judgments    judgments, nuggets, known answers     nist         the same in the forms of NIST
    rag24        nugget assignments of TREC RAG        samples      draws that people label
    recognise    the kind of a file                    importing/   files into an evaluation
    answers      people's own tables of answers        sheets       judging sheets, out and back
    exporting    the evaluation, and a release         nist_forms   all of it in the forms of NIST
    looking      what a file is, and the commands for it

Scores from elsewhere (FORMATS 7), from the door inwards:

    scores       the one door                          sources      files, NAME=FILE, tables in memory
    columns      what each column is                   cells        what each cell says
    matrix       wide tables                           long         one row per answer
    foreign/     logs of other tools                   score_rows   long tables and logs, as one record
    assembling   from there to score matrices          metrics      names of metrics, and their direction
    gate_history looks at two systems, as a pipeline keeps them
"""
