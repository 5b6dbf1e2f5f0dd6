"""The evaluation of the evaluation: what scores and judgments are worth, computed from these alone.

How sure is a score, a difference, a ranking?

    intervals      of a score                           one_pair          test and interval of a difference
    leader         of the score that was picked as the best
    blocks         the independent parts of a score     right_or_wrong    where scores are 0 or 1
    repeats        systems that were run several times  hall              where scores are graded
    normal_and_t   distributions, without loading scipy flips             sign flips, and their plain test
    looks          looking again and again, as labels and scores come
    crossed        who judged, in the interval of a difference
    significance/  which runs differ                    gating            a difference as a decision
    ranking        rankings, and how two agree          sensitivity/      which gaps are repeatable
    distributions  how scores spread over units         fidelity          the ranking under other settings

How good are the judgments, and what would more of them show?

    agreement/     of sets and of people                ratings           of ratings on a scale
    noise          identical responses, judged apart    stability         the ranking under other judgments
    reuse          a run that was not in the pool       progress          judgments over time
    generalizability  run, question, assessor, chance   planning/         how many questions
    simulate       runs with known means                redrawing         how rankings agree on new questions

Can a program judge?

    trust/         its judgments beside people's        correction/       its scores, corrected by people's labels
"""
