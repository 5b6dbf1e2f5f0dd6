CREATE TRIGGER tr_assignment_insert AFTER INSERT ON assignment BEGIN
  INSERT INTO share (slot, "set", account) SELECT NEW.slot, NEW."set", coalesce(NEW.account, 0)
    WHERE NOT EXISTS (SELECT 1 FROM share
      WHERE slot = NEW.slot AND "set" = NEW."set" AND account = coalesce(NEW.account, 0));
  UPDATE share SET
      questions = questions + 1, closed = closed + (NEW.closed IS NOT NULL), total = total + NEW.total,
      done = done + NEW.done, waiting = waiting + (NEW.closed IS NULL) * (NEW.total - NEW.done),
      seconds = seconds + NEW.seconds, timed = timed + (NEW.seconds > 0) * NEW.done
    WHERE slot = NEW.slot AND "set" = NEW."set" AND account = coalesce(NEW.account, 0);
  INSERT INTO stage (question, pooled, judged, unruled) SELECT NEW.question,
      EXISTS (SELECT 1 FROM item WHERE question = NEW.question AND active),
      EXISTS (SELECT 1 FROM standing WHERE question = NEW.question AND body IS NOT NULL),
      coalesce((SELECT unruled FROM settled WHERE question = NEW.question), 0)
    WHERE NOT EXISTS (SELECT 1 FROM stage WHERE question = NEW.question);
  UPDATE stage SET
      assessors = assessors + 1, open = open + (NEW.closed IS NULL), total = total + NEW.total, done = done + NEW.done,
      waiting = waiting + (NEW.closed IS NULL) * (NEW.total - NEW.done), seconds = seconds + NEW.seconds,
      first = (SELECT min(id) FROM assignment WHERE question = NEW.question)
    WHERE question = NEW.question;
END

CREATE TRIGGER tr_assignment_delete AFTER DELETE ON assignment BEGIN
  UPDATE share SET
      questions = questions - 1, closed = closed - (OLD.closed IS NOT NULL), total = total - OLD.total,
      done = done - OLD.done, waiting = waiting - (OLD.closed IS NULL) * (OLD.total - OLD.done),
      seconds = seconds - OLD.seconds, timed = timed - (OLD.seconds > 0) * OLD.done
    WHERE slot = OLD.slot AND "set" = OLD."set" AND account = coalesce(OLD.account, 0);
  UPDATE stage SET
      assessors = assessors - 1, open = open - (OLD.closed IS NULL), total = total - OLD.total, done = done - OLD.done,
      waiting = waiting - (OLD.closed IS NULL) * (OLD.total - OLD.done), seconds = seconds - OLD.seconds,
      first = (SELECT min(id) FROM assignment WHERE question = OLD.question)
    WHERE question = OLD.question;
  DELETE FROM stage WHERE question = OLD.question AND ordinal IS NULL AND assessors = 0;
END

CREATE TRIGGER tr_assignment_save AFTER UPDATE OF total, done, closed, seconds ON assignment
WHEN OLD.closed IS NEW.closed AND OLD.total = NEW.total BEGIN
  UPDATE share SET
      done = done + NEW.done - OLD.done, waiting = waiting - (NEW.closed IS NULL) * (NEW.done - OLD.done),
      seconds = seconds + NEW.seconds - OLD.seconds,
      timed = timed + (NEW.seconds > 0) * NEW.done - (OLD.seconds > 0) * OLD.done
    WHERE slot = OLD.slot AND "set" = OLD."set" AND account = coalesce(OLD.account, 0);
  UPDATE stage SET
      done = done + NEW.done - OLD.done, waiting = waiting - (NEW.closed IS NULL) * (NEW.done - OLD.done),
      seconds = seconds + NEW.seconds - OLD.seconds
    WHERE question = OLD.question;
END

CREATE TRIGGER tr_assignment_update AFTER UPDATE OF total, done, closed, seconds ON assignment
WHEN OLD.closed IS NOT NEW.closed OR OLD.total <> NEW.total BEGIN
  UPDATE share SET
      closed = closed + (NEW.closed IS NOT NULL) - (OLD.closed IS NOT NULL), total = total + NEW.total - OLD.total,
      done = done + NEW.done - OLD.done,
      waiting = waiting + (NEW.closed IS NULL) * (NEW.total - NEW.done)
        - (OLD.closed IS NULL) * (OLD.total - OLD.done),
      seconds = seconds + NEW.seconds - OLD.seconds,
      timed = timed + (NEW.seconds > 0) * NEW.done - (OLD.seconds > 0) * OLD.done
    WHERE slot = OLD.slot AND "set" = OLD."set" AND account = coalesce(OLD.account, 0);
  UPDATE stage SET
      open = open + (NEW.closed IS NULL) - (OLD.closed IS NULL), total = total + NEW.total - OLD.total,
      done = done + NEW.done - OLD.done,
      waiting = waiting + (NEW.closed IS NULL) * (NEW.total - NEW.done)
        - (OLD.closed IS NULL) * (OLD.total - OLD.done),
      seconds = seconds + NEW.seconds - OLD.seconds
    WHERE question = OLD.question;
END

CREATE TRIGGER tr_assignment_move AFTER UPDATE OF account ON assignment WHEN OLD.account IS NOT NEW.account BEGIN
  INSERT INTO share (slot, "set", account) SELECT NEW.slot, NEW."set", coalesce(NEW.account, 0)
    WHERE NOT EXISTS (SELECT 1 FROM share
      WHERE slot = NEW.slot AND "set" = NEW."set" AND account = coalesce(NEW.account, 0));
  UPDATE share SET
      questions = questions + 1, closed = closed + (NEW.closed IS NOT NULL), total = total + NEW.total,
      done = done + NEW.done, waiting = waiting + (NEW.closed IS NULL) * (NEW.total - NEW.done),
      seconds = seconds + NEW.seconds, timed = timed + (NEW.seconds > 0) * NEW.done
    WHERE slot = NEW.slot AND "set" = NEW."set" AND account = coalesce(NEW.account, 0);
  UPDATE share SET
      questions = questions - 1, closed = closed - (NEW.closed IS NOT NULL), total = total - NEW.total,
      done = done - NEW.done, waiting = waiting - (NEW.closed IS NULL) * (NEW.total - NEW.done),
      seconds = seconds - NEW.seconds, timed = timed - (NEW.seconds > 0) * NEW.done
    WHERE slot = OLD.slot AND "set" = OLD."set" AND account = coalesce(OLD.account, 0);
END

CREATE TRIGGER tr_assignment_fixed BEFORE UPDATE OF question, slot, "set" ON assignment BEGIN
  SELECT RAISE(ABORT, 'the question and the slot of an assignment do not change');
END

CREATE TRIGGER tr_question_insert AFTER INSERT ON question WHEN NOT NEW.draft BEGIN
  INSERT INTO stage (question, pooled, judged, unruled) SELECT NEW.id,
      EXISTS (SELECT 1 FROM item WHERE question = NEW.id AND active),
      EXISTS (SELECT 1 FROM standing WHERE question = NEW.id AND body IS NOT NULL),
      coalesce((SELECT unruled FROM settled WHERE question = NEW.id), 0)
    WHERE NOT EXISTS (SELECT 1 FROM stage WHERE question = NEW.id);
  UPDATE stage SET ordinal = NEW.ordinal WHERE question = NEW.id;
END

CREATE TRIGGER tr_question_update AFTER UPDATE OF id, ordinal, draft ON question BEGIN
  UPDATE stage SET ordinal = NULL WHERE question = OLD.id AND (NEW.draft OR OLD.id <> NEW.id);
  DELETE FROM stage WHERE question = OLD.id AND ordinal IS NULL AND assessors = 0;
  INSERT INTO stage (question, pooled, judged, unruled) SELECT NEW.id,
      EXISTS (SELECT 1 FROM item WHERE question = NEW.id AND active),
      EXISTS (SELECT 1 FROM standing WHERE question = NEW.id AND body IS NOT NULL),
      coalesce((SELECT unruled FROM settled WHERE question = NEW.id), 0)
    WHERE NOT NEW.draft AND NOT EXISTS (SELECT 1 FROM stage WHERE question = NEW.id);
  UPDATE stage SET ordinal = NEW.ordinal WHERE question = NEW.id AND NOT NEW.draft;
END

CREATE TRIGGER tr_question_change AFTER UPDATE OF id, ordinal, body, draft, version ON question BEGIN
  UPDATE question SET changes = changes + 1 WHERE id = NEW.id;
END

CREATE TRIGGER tr_question_delete AFTER DELETE ON question BEGIN
  UPDATE stage SET ordinal = NULL WHERE question = OLD.id;
  DELETE FROM stage WHERE question = OLD.id AND assessors = 0;
END

CREATE TRIGGER tr_item_insert AFTER INSERT ON item WHEN NEW.active BEGIN
  UPDATE stage SET pooled = 1 WHERE question = NEW.question AND pooled = 0;
END

CREATE TRIGGER tr_item_update AFTER UPDATE OF active, question ON item
WHEN OLD.active <> NEW.active OR OLD.question <> NEW.question BEGIN
  UPDATE stage SET pooled = 1 WHERE question = NEW.question AND pooled = 0 AND NEW.active;
  UPDATE stage SET pooled = 0 WHERE question = OLD.question AND pooled = 1
    AND NOT EXISTS (SELECT 1 FROM item WHERE question = OLD.question AND active);
END

CREATE TRIGGER tr_item_delete AFTER DELETE ON item BEGIN
  UPDATE stage SET pooled = 0 WHERE question = OLD.question AND pooled = 1
    AND NOT EXISTS (SELECT 1 FROM item WHERE question = OLD.question AND active);
END

CREATE TRIGGER tr_standing_insert AFTER INSERT ON standing WHEN NEW.body IS NOT NULL BEGIN
  UPDATE stage SET judged = 1 WHERE question = NEW.question AND judged = 0;
END

CREATE TRIGGER tr_standing_update AFTER UPDATE OF body, question ON standing
WHEN (OLD.body IS NULL) <> (NEW.body IS NULL) OR OLD.question <> NEW.question BEGIN
  UPDATE stage SET judged = 1 WHERE question = NEW.question AND judged = 0 AND NEW.body IS NOT NULL;
  UPDATE stage SET judged = 0 WHERE question = OLD.question AND judged = 1
    AND NOT EXISTS (SELECT 1 FROM standing WHERE question = OLD.question AND body IS NOT NULL);
END

CREATE TRIGGER tr_standing_delete AFTER DELETE ON standing BEGIN
  UPDATE stage SET judged = 0 WHERE question = OLD.question AND judged = 1
    AND NOT EXISTS (SELECT 1 FROM standing WHERE question = OLD.question AND body IS NOT NULL);
END

CREATE TRIGGER tr_settled_insert AFTER INSERT ON settled BEGIN
  UPDATE stage SET unruled = NEW.unruled WHERE question = NEW.question;
END

CREATE TRIGGER tr_settled_update AFTER UPDATE ON settled BEGIN
  UPDATE stage SET unruled = NEW.unruled WHERE question = NEW.question;
END

CREATE TRIGGER tr_settled_delete AFTER DELETE ON settled BEGIN
  UPDATE stage SET unruled = 0 WHERE question = OLD.question;
END
