CREATE OR REPLACE FUNCTION tr_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed assignment[];
  sign integer;
BEGIN
  IF TG_OP = 'INSERT' THEN
    changed := ARRAY(SELECT n FROM new_rows AS n);
    sign := 1;
    INSERT INTO share (slot, "set", account)
      SELECT DISTINCT r.slot, r."set", coalesce(r.account, 0) FROM unnest(changed) AS r
      ON CONFLICT DO NOTHING;
    INSERT INTO stage (question, pooled, judged, unruled)
      SELECT n.question,
        EXISTS (SELECT 1 FROM item AS i WHERE i.question = n.question AND i.active),
        EXISTS (SELECT 1 FROM standing AS t WHERE t.question = n.question AND t.body IS NOT NULL),
        coalesce((SELECT t.unruled FROM settled AS t WHERE t.question = n.question), 0)
      FROM (SELECT DISTINCT r.question FROM unnest(changed) AS r) AS n
      ON CONFLICT DO NOTHING;
  ELSE
    changed := ARRAY(SELECT o FROM old_rows AS o);
    sign := -1;
  END IF;
  UPDATE share AS s SET
      questions = s.questions + sign * d.questions, closed = s.closed + sign * d.closed,
      total = s.total + sign * d.total, done = s.done + sign * d.done, waiting = s.waiting + sign * d.waiting,
      seconds = s.seconds + sign * d.seconds, timed = s.timed + sign * d.timed
    FROM (
      SELECT r.slot, r."set", coalesce(r.account, 0) AS account, count(*) AS questions, count(r.closed) AS closed,
        sum(r.total) AS total, sum(r.done) AS done,
        sum(CASE WHEN r.closed IS NULL THEN r.total - r.done ELSE 0 END) AS waiting, sum(r.seconds) AS seconds,
        sum(CASE WHEN r.seconds > 0 THEN r.done ELSE 0 END) AS timed
      FROM unnest(changed) AS r GROUP BY 1, 2, 3
    ) AS d
    WHERE s.slot = d.slot AND s."set" = d."set" AND s.account = d.account;
  UPDATE stage AS s SET
      assessors = s.assessors + sign * d.assessors, open = s.open + sign * d.open, total = s.total + sign * d.total,
      done = s.done + sign * d.done, waiting = s.waiting + sign * d.waiting, seconds = s.seconds + sign * d.seconds,
      first = (SELECT min(a.id) FROM assignment AS a WHERE a.question = s.question)
    FROM (
      SELECT r.question, count(*) AS assessors, count(*) - count(r.closed) AS open, sum(r.total) AS total,
        sum(r.done) AS done, sum(CASE WHEN r.closed IS NULL THEN r.total - r.done ELSE 0 END) AS waiting,
        sum(r.seconds) AS seconds
      FROM unnest(changed) AS r GROUP BY 1
    ) AS d
    WHERE s.question = d.question;
  DELETE FROM stage WHERE ordinal IS NULL AND assessors = 0
    AND question IN (SELECT r.question FROM unnest(changed) AS r);
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION tr_assignment_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- What a row adds to the sums, after and before.
  shut integer := (NEW.closed IS NOT NULL)::integer;
  was_shut integer := (OLD.closed IS NOT NULL)::integer;
  waits integer := (1 - shut) * (NEW.total - NEW.done);
  waited integer := (1 - was_shut) * (OLD.total - OLD.done);
  timed_now integer := CASE WHEN NEW.seconds > 0 THEN NEW.done ELSE 0 END;
  timed_then integer := CASE WHEN OLD.seconds > 0 THEN OLD.done ELSE 0 END;
BEGIN
  IF OLD.account IS NOT DISTINCT FROM NEW.account THEN
    UPDATE share SET
        closed = closed + shut - was_shut, total = total + NEW.total - OLD.total, done = done + NEW.done - OLD.done,
        waiting = waiting + waits - waited, seconds = seconds + NEW.seconds - OLD.seconds,
        timed = timed + timed_now - timed_then
      WHERE slot = NEW.slot AND "set" = NEW."set" AND account = coalesce(NEW.account, 0);
  ELSE
    INSERT INTO share (slot, "set", account) VALUES (NEW.slot, NEW."set", coalesce(NEW.account, 0))
      ON CONFLICT DO NOTHING;
    -- Both are locked in the order in which everybody locks them.
    PERFORM 1 FROM share WHERE slot = NEW.slot AND "set" = NEW."set"
      AND account IN (coalesce(NEW.account, 0), coalesce(OLD.account, 0)) ORDER BY account FOR UPDATE;
    UPDATE share SET
        questions = questions + 1, closed = closed + shut, total = total + NEW.total, done = done + NEW.done,
        waiting = waiting + waits, seconds = seconds + NEW.seconds, timed = timed + timed_now
      WHERE slot = NEW.slot AND "set" = NEW."set" AND account = coalesce(NEW.account, 0);
    UPDATE share SET
        questions = questions - 1, closed = closed - was_shut, total = total - OLD.total, done = done - OLD.done,
        waiting = waiting - waited, seconds = seconds - OLD.seconds, timed = timed - timed_then
      WHERE slot = OLD.slot AND "set" = OLD."set" AND account = coalesce(OLD.account, 0);
  END IF;
  UPDATE stage SET
      open = open - shut + was_shut, total = total + NEW.total - OLD.total, done = done + NEW.done - OLD.done,
      waiting = waiting + waits - waited, seconds = seconds + NEW.seconds - OLD.seconds
    WHERE question = NEW.question;
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION tr_question() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added question[] := '{}';
  taken question[] := '{}';
BEGIN
  IF TG_OP <> 'DELETE' THEN
    added := ARRAY(SELECT n FROM new_rows AS n WHERE NOT n.draft);
  END IF;
  IF TG_OP <> 'INSERT' THEN
    taken := ARRAY(SELECT o FROM old_rows AS o);
  END IF;
  UPDATE stage SET ordinal = NULL WHERE ordinal IS NOT NULL AND question IN (
    SELECT o.id FROM unnest(taken) AS o WHERE NOT EXISTS (SELECT 1 FROM unnest(added) AS n WHERE n.id = o.id));
  DELETE FROM stage WHERE ordinal IS NULL AND assessors = 0 AND question IN (SELECT o.id FROM unnest(taken) AS o);
  INSERT INTO stage (question, pooled, judged, unruled)
    SELECT n.id,
      EXISTS (SELECT 1 FROM item AS i WHERE i.question = n.id AND i.active),
      EXISTS (SELECT 1 FROM standing AS t WHERE t.question = n.id AND t.body IS NOT NULL),
      coalesce((SELECT t.unruled FROM settled AS t WHERE t.question = n.id), 0)
    FROM unnest(added) AS n
    WHERE NOT EXISTS (SELECT 1 FROM stage AS s WHERE s.question = n.id)
    ON CONFLICT DO NOTHING;
  UPDATE stage AS s SET ordinal = n.ordinal FROM unnest(added) AS n
    WHERE s.question = n.id AND s.ordinal IS DISTINCT FROM n.ordinal;
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION tr_question_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changes := OLD.changes + 1;
  RETURN NEW;
END $$

CREATE TRIGGER tr_question_change BEFORE UPDATE OF id, ordinal, body, draft, version ON question
  FOR EACH ROW EXECUTE FUNCTION tr_question_change()

CREATE OR REPLACE FUNCTION tr_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    UPDATE stage SET pooled = true
      WHERE NOT pooled AND question IN (SELECT n.question FROM new_rows AS n WHERE n.active);
  END IF;
  IF TG_OP <> 'INSERT' THEN
    UPDATE stage AS s SET pooled = false WHERE s.pooled AND s.question IN (SELECT o.question FROM old_rows AS o)
      AND NOT EXISTS (SELECT 1 FROM item AS i WHERE i.question = s.question AND i.active);
  END IF;
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION tr_standing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    UPDATE stage SET judged = true
      WHERE NOT judged AND question IN (SELECT n.question FROM new_rows AS n WHERE n.body IS NOT NULL);
  END IF;
  IF TG_OP <> 'INSERT' THEN
    UPDATE stage AS s SET judged = false WHERE s.judged AND s.question IN (SELECT o.question FROM old_rows AS o)
      AND NOT EXISTS (SELECT 1 FROM standing AS t WHERE t.question = s.question AND t.body IS NOT NULL);
  END IF;
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION tr_settled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE stage SET unruled = 0 WHERE question = OLD.question;
  ELSE
    UPDATE stage SET unruled = NEW.unruled WHERE question = NEW.question;
  END IF;
  RETURN NULL;
END $$

CREATE TRIGGER tr_settled AFTER INSERT OR UPDATE OR DELETE ON settled
  FOR EACH ROW EXECUTE FUNCTION tr_settled()

CREATE TRIGGER tr_assignment_insert AFTER INSERT ON assignment REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_assignment()

CREATE TRIGGER tr_assignment_update
  AFTER UPDATE OF account, total, done, closed, seconds ON assignment
  FOR EACH ROW EXECUTE FUNCTION tr_assignment_update()

CREATE TRIGGER tr_assignment_delete AFTER DELETE ON assignment REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_assignment()

CREATE TRIGGER tr_question_insert AFTER INSERT ON question REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_question()

CREATE TRIGGER tr_question_update AFTER UPDATE ON question REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_question()

CREATE TRIGGER tr_question_delete AFTER DELETE ON question REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_question()

CREATE TRIGGER tr_item_insert AFTER INSERT ON item REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_item()

CREATE TRIGGER tr_item_update AFTER UPDATE ON item REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_item()

CREATE TRIGGER tr_item_delete AFTER DELETE ON item REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_item()

CREATE TRIGGER tr_standing_insert AFTER INSERT ON standing REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_standing()

CREATE TRIGGER tr_standing_update AFTER UPDATE ON standing REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_standing()

CREATE TRIGGER tr_standing_delete AFTER DELETE ON standing REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tr_standing()
