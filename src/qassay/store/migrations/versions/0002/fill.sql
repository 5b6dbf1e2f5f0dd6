INSERT INTO stage (question, ordinal, pooled, judged, unruled)
  SELECT q.id, q.ordinal,
    EXISTS (SELECT 1 FROM item AS i WHERE i.question = q.id AND i.active),
    EXISTS (SELECT 1 FROM standing AS t WHERE t.question = q.id AND t.body IS NOT NULL),
    coalesce((SELECT t.unruled FROM settled AS t WHERE t.question = q.id), 0)
  FROM question AS q WHERE NOT q.draft

INSERT INTO stage (question, pooled, judged, unruled)
  SELECT n.question,
    EXISTS (SELECT 1 FROM item AS i WHERE i.question = n.question AND i.active),
    EXISTS (SELECT 1 FROM standing AS t WHERE t.question = n.question AND t.body IS NOT NULL),
    coalesce((SELECT t.unruled FROM settled AS t WHERE t.question = n.question), 0)
  FROM (SELECT DISTINCT a.question FROM assignment AS a) AS n
  WHERE NOT EXISTS (SELECT 1 FROM stage AS s WHERE s.question = n.question)

UPDATE stage SET (first, assessors, open, total, done, waiting, seconds) = (
  SELECT min(a.id), count(*), count(*) - count(a.closed), coalesce(sum(a.total), 0), coalesce(sum(a.done), 0),
    coalesce(sum(CASE WHEN a.closed IS NULL THEN a.total - a.done ELSE 0 END), 0), coalesce(sum(a.seconds), 0)
  FROM assignment AS a WHERE a.question = stage.question)

INSERT INTO share (slot, "set", account, questions, closed, total, done, waiting, seconds, timed)
  SELECT a.slot, a."set", coalesce(a.account, 0), count(*), count(a.closed), sum(a.total), sum(a.done),
    sum(CASE WHEN a.closed IS NULL THEN a.total - a.done ELSE 0 END), sum(a.seconds),
    sum(CASE WHEN a.seconds > 0 THEN a.done ELSE 0 END)
  FROM assignment AS a GROUP BY a.slot, a."set", coalesce(a.account, 0)
