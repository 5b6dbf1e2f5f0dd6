BEGIN TRANSACTION;
CREATE TABLE account (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	role VARCHAR(20) NOT NULL CONSTRAINT ck_account_role CHECK (role IN ('organiser', 'adjudicator', 'assessor', 'reader', 'participant')), 
	password VARCHAR(300), 
	subject VARCHAR(500), 
	active BOOLEAN DEFAULT 1 NOT NULL, 
	preferences TEXT DEFAULT '{}' NOT NULL, 
	created VARCHAR(40) NOT NULL, organisation VARCHAR(200), 
	CONSTRAINT pk_account PRIMARY KEY (id), 
	CONSTRAINT uq_account_name UNIQUE (name), 
	CONSTRAINT uq_account_subject UNIQUE (subject)
);
INSERT INTO "account" VALUES(1,'organiser','organiser',NULL,NULL,1,'{"keys": {"R": "r"}}','2026-11-15T12:00:00.000Z',NULL);
INSERT INTO "account" VALUES(2,'first assessor','assessor',NULL,NULL,1,'{"keys": {"R": "r"}}','2026-11-15T12:00:00.000Z',NULL);
INSERT INTO "account" VALUES(3,'second assessor','assessor',NULL,NULL,1,'{"keys": {"R": "r"}}','2026-11-15T12:00:00.000Z',NULL);
INSERT INTO "account" VALUES(4,'participant','participant',NULL,NULL,1,'{}','2026-11-16T12:00:00.000Z','North');
CREATE TABLE answer (
	id INTEGER NOT NULL, 
	question VARCHAR(200) NOT NULL, 
	body TEXT NOT NULL, 
	account INTEGER, 
	at VARCHAR(40) NOT NULL, 
	CONSTRAINT pk_answer PRIMARY KEY (id), 
	CONSTRAINT fk_answer_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "answer" VALUES(1,'1.1','{"question": "1.1", "answer": "1901", "doc": "D1"}',NULL,'2026-11-15T12:00:00.000Z');
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	question VARCHAR(200) NOT NULL, 
	slot INTEGER NOT NULL, 
	"set" VARCHAR(200) NOT NULL, 
	account INTEGER, 
	leased VARCHAR(40), 
	step INTEGER DEFAULT '1' NOT NULL, 
	total INTEGER NOT NULL, 
	done INTEGER DEFAULT '0' NOT NULL, 
	closed VARCHAR(40), 
	seconds INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT uq_assignment_question_slot UNIQUE (question, slot), 
	CONSTRAINT uq_assignment_question_account UNIQUE (question, account), 
	CONSTRAINT fk_assignment_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "assignment" VALUES(1,'1.1',1,'first',2,NULL,1,1,1,'2026-11-15T12:00:00.000Z',0);
CREATE TABLE invitation (
	id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	name VARCHAR(200), 
	created VARCHAR(40) NOT NULL, 
	expires VARCHAR(40) NOT NULL, 
	used VARCHAR(40), 
	"by" INTEGER, organisation VARCHAR(200), 
	CONSTRAINT pk_invitation PRIMARY KEY (id), 
	CONSTRAINT uq_invitation_digest UNIQUE (digest), 
	CONSTRAINT fk_invitation_by FOREIGN KEY("by") REFERENCES account (id)
);
INSERT INTO "invitation" VALUES(1,'0000000000000000000000000000000000000000000000000000000000000000','reader',NULL,'2026-11-15T12:00:00.000Z','2026-11-22T12:00:00.000Z',NULL,1,NULL);
CREATE TABLE item (
	id INTEGER NOT NULL, 
	question VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	run VARCHAR(200), 
	ordinal INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	parts INTEGER DEFAULT '1' NOT NULL, 
	active BOOLEAN DEFAULT 1 NOT NULL, 
	CONSTRAINT pk_item PRIMARY KEY (id)
);
INSERT INTO "item" VALUES(4123,'1.1','item',NULL,0,'{"doc": "D1", "text": "1901"}',1,1);
CREATE TABLE judgment (
	id INTEGER NOT NULL, 
	"set" VARCHAR(200) NOT NULL, 
	question VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	thing VARCHAR(32) NOT NULL, 
	version INTEGER NOT NULL, 
	body TEXT, 
	"key" VARCHAR(100), 
	account INTEGER, 
	at VARCHAR(40) NOT NULL, 
	CONSTRAINT pk_judgment PRIMARY KEY (id), 
	CONSTRAINT uq_judgment_set_thing_version UNIQUE ("set", thing, version), 
	CONSTRAINT uq_judgment_key UNIQUE ("key"), 
	CONSTRAINT fk_judgment_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "judgment" VALUES(1,'first','1.1','item','fa2edf4a3b66ec12ee79f7fe2df41db1',1,'{"question": "1.1", "doc": "D1", "text": "1901", "judgment": "W", "assessor": "x"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(2,'first','1.1','item','fa2edf4a3b66ec12ee79f7fe2df41db1',2,'{"question": "1.1", "doc": "D1", "text": "1901", "judgment": "R", "assessor": "x", "note": "after all"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(3,'first','1.2','list','7bf6112b6b036cd9d5b36a89edceb697',1,'{"question": "1.2", "run": "a", "doc": "D1", "text": "Ann", "judgment": "R", "answer": "Ann"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(4,'first','1.2','list','f65eeda8c0c1d1dcaed87afd1dc1f5e3',1,'{"question": "1.2", "run": "a", "doc": "D2", "text": "Bob", "judgment": "W"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(5,'first','1.2','list','a9ecc9516a4b8d2b13d5a2f2d3e60725',1,'{"question": "1.2", "run": "b", "doc": "D1", "text": "Ann", "judgment": "R", "answer": "Ann"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(6,'first','1.3','match','26d13f7f37928631d877a50dc4b74305',1,'{"question": "1.3", "run": "a", "nuggets": ["1"]}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(7,'first','1.3','match','b14f69c2dfa14c000fef7f71fd5bf954',1,'{"question": "1.3", "run": "b", "nuggets": ["2"]}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(8,'first','1.1','item','fa2edf4a3b66ec12ee79f7fe2df41db1',3,'{"question":"1.1","doc":"D1","text":"1901","assessor":"first assessor","at":"2026-11-15T12:00:00.000Z","judgment":"X"}','a',2,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(9,'first','1.1','item','fa2edf4a3b66ec12ee79f7fe2df41db1',4,'{"question":"1.1","doc":"D1","text":"1901","assessor":"first assessor","at":"2026-11-15T12:00:00.000Z","judgment":"R"}','b',2,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(10,'second','1.1','item','fa2edf4a3b66ec12ee79f7fe2df41db1',1,'{"question":"1.1","doc":"D1","text":"1901","assessor":"first assessor","at":"2026-11-15T12:00:00.000Z","judgment":"R"}','c',3,'2026-11-15T12:00:00.000Z');
INSERT INTO "judgment" VALUES(11,'second','1.1','item','fa2edf4a3b66ec12ee79f7fe2df41db1',2,NULL,'d',3,'2026-11-15T12:00:00.000Z');
CREATE TABLE nugget (
	id INTEGER NOT NULL, 
	list VARCHAR(200) NOT NULL, 
	question VARCHAR(200) NOT NULL, 
	nugget VARCHAR(200) NOT NULL, 
	version INTEGER NOT NULL, 
	ordinal INTEGER NOT NULL, 
	body TEXT, 
	"key" VARCHAR(100), 
	account INTEGER, 
	at VARCHAR(40) NOT NULL, 
	CONSTRAINT pk_nugget PRIMARY KEY (id), 
	CONSTRAINT uq_nugget_list_question_nugget_version UNIQUE (list, question, nugget, version), 
	CONSTRAINT uq_nugget_key UNIQUE ("key"), 
	CONSTRAINT fk_nugget_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "nugget" VALUES(1,'first','1.3','1',1,1,'{"question": "1.3", "nugget": "1", "vital": true, "text": "chess"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "nugget" VALUES(2,'first','1.3','2',1,2,'{"question": "1.3", "nugget": "2", "vital": false, "text": "plays"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "nugget" VALUES(3,'first','1.3','3',1,3,'{"vital":true,"text":"taken off","question":"1.3","nugget":"3"}',NULL,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "nugget" VALUES(4,'first','1.3','3',2,3,NULL,NULL,NULL,'2026-11-15T12:00:00.000Z');
CREATE TABLE qassay_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT qassay_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "qassay_version" VALUES('0005');
CREATE TABLE question (
	id VARCHAR(200) NOT NULL, 
	ordinal INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	draft BOOLEAN DEFAULT 0 NOT NULL, 
	version INTEGER DEFAULT '1' NOT NULL, 
	account INTEGER, 
	at VARCHAR(40) NOT NULL, changes INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_question PRIMARY KEY (id), 
	CONSTRAINT fk_question_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "question" VALUES('1.1',0,'{"id": "1.1", "type": "factoid", "text": "When was the club founded?", "series": "1", "target": "club"}',0,1,NULL,'2026-11-15T12:00:00.000Z',0);
INSERT INTO "question" VALUES('1.2',1,'{"id": "1.2", "type": "list", "text": "Who are its members?", "series": "1"}',0,1,NULL,'2026-11-15T12:00:00.000Z',0);
INSERT INTO "question" VALUES('1.3',2,'{"id": "1.3", "type": "other", "text": "", "series": "1"}',0,1,NULL,'2026-11-15T12:00:00.000Z',0);
INSERT INTO "question" VALUES('2.1',9,'{"id": "2.1", "type": "factoid", "text": "A draft?", "series": "2"}',1,1,1,'2026-11-15T12:00:00.000Z',0);
CREATE TABLE question_progress (
	question VARCHAR(200) NOT NULL, 
	ordinal INTEGER, 
	first INTEGER, 
	pooled BOOLEAN DEFAULT 0 NOT NULL, 
	judged BOOLEAN DEFAULT 0 NOT NULL, 
	assessors INTEGER DEFAULT '0' NOT NULL, 
	open INTEGER DEFAULT '0' NOT NULL, 
	done INTEGER DEFAULT '0' NOT NULL, 
	waiting INTEGER DEFAULT '0' NOT NULL, 
	seconds INTEGER DEFAULT '0' NOT NULL, 
	unruled INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_question_progress PRIMARY KEY (question)
)
 WITHOUT ROWID

;
INSERT INTO "question_progress" VALUES('1.1',0,1,1,1,1,0,1,0,0,1);
INSERT INTO "question_progress" VALUES('1.2',1,NULL,0,1,0,0,0,0,0,0);
INSERT INTO "question_progress" VALUES('1.3',2,NULL,0,1,0,0,0,0,0,0);
INSERT INTO "question_progress" VALUES('2.1',NULL,NULL,0,0,0,0,0,0,0,0);
CREATE TABLE record (
	id INTEGER NOT NULL, 
	at VARCHAR(40) NOT NULL, 
	account INTEGER, 
	action VARCHAR(50) NOT NULL, 
	question VARCHAR(200), 
	body TEXT DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_record PRIMARY KEY (id), 
	CONSTRAINT fk_record_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "record" VALUES(1,'2026-11-15T12:00:00.000Z',NULL,'take-in',NULL,'{"files":[{"file":"questions.jsonl","kind":"questions","added":3,"changed":0},{"file":"answers.jsonl","kind":"answers","added":1,"changed":0},{"file":"runs/a.txt","kind":"run","added":1,"changed":0},{"file":"runs/b.txt","kind":"run","added":1,"changed":0},{"file":"runs.jsonl","kind":"run-information","added":2,"changed":0},{"file":"nuggets/first.jsonl","kind":"nuggets","added":2,"changed":0},{"file":"judgments/first.jsonl","kind":"judgments","added":7,"changed":0}]}');
CREATE TABLE run (
	tag VARCHAR(200) NOT NULL, 
	file VARCHAR(300) NOT NULL, 
	data BLOB NOT NULL, 
	information TEXT, 
	withdrawn BOOLEAN DEFAULT 0 NOT NULL, 
	account INTEGER, 
	at VARCHAR(40) NOT NULL, 
	CONSTRAINT pk_run PRIMARY KEY (tag), 
	CONSTRAINT fk_run_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "run" VALUES('a','a.txt',X'312E31206120443120313930310A312E32206120443120416E6E0A312E32206120443220426F620A312E332061204431206120636865737320636C75620A','{"run": "a", "organisation": "north"}',0,NULL,'2026-11-15T12:00:00.000Z');
INSERT INTO "run" VALUES('b','b.txt',X'312E312062204E494C0A312E32206220443120416E6E0A312E33206220443220697420706C6179730A','{"run": "b", "organisation": "south", "colour": "red"}',0,NULL,'2026-11-15T12:00:00.000Z');
CREATE TABLE session (
	id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	account INTEGER NOT NULL, 
	created VARCHAR(40) NOT NULL, 
	seen VARCHAR(40) NOT NULL, 
	expires VARCHAR(40) NOT NULL, 
	ended VARCHAR(40), 
	address VARCHAR(100), 
	agent VARCHAR(300), 
	CONSTRAINT pk_session PRIMARY KEY (id), 
	CONSTRAINT uq_session_digest UNIQUE (digest), 
	CONSTRAINT fk_session_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "session" VALUES(1,'1111111111111111111111111111111111111111111111111111111111111111',2,'2026-11-15T12:00:00.000Z','2026-11-15T12:00:00.000Z','2026-11-22T12:00:00.000Z',NULL,NULL,NULL);
CREATE TABLE setting (
	name VARCHAR(200) NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_setting PRIMARY KEY (name)
);
INSERT INTO "setting" VALUES('evaluation','"small"');
CREATE TABLE settled (
	question VARCHAR(200) NOT NULL, 
	unanimous INTEGER NOT NULL, 
	disagreements INTEGER NOT NULL, 
	unruled INTEGER NOT NULL, 
	CONSTRAINT pk_settled PRIMARY KEY (question)
);
INSERT INTO "settled" VALUES('1.1',1,1,1);
CREATE TABLE standing (
	"set" VARCHAR(200) NOT NULL, 
	thing VARCHAR(32) NOT NULL, 
	question VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	judgment INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	body TEXT, 
	CONSTRAINT pk_standing PRIMARY KEY ("set", thing), 
	CONSTRAINT fk_standing_judgment FOREIGN KEY(judgment) REFERENCES judgment (id)
);
INSERT INTO "standing" VALUES('first','26d13f7f37928631d877a50dc4b74305','1.3','match',6,1,'{"question": "1.3", "run": "a", "nuggets": ["1"]}');
INSERT INTO "standing" VALUES('first','7bf6112b6b036cd9d5b36a89edceb697','1.2','list',3,1,'{"question": "1.2", "run": "a", "doc": "D1", "text": "Ann", "judgment": "R", "answer": "Ann"}');
INSERT INTO "standing" VALUES('first','a9ecc9516a4b8d2b13d5a2f2d3e60725','1.2','list',5,1,'{"question": "1.2", "run": "b", "doc": "D1", "text": "Ann", "judgment": "R", "answer": "Ann"}');
INSERT INTO "standing" VALUES('first','b14f69c2dfa14c000fef7f71fd5bf954','1.3','match',7,1,'{"question": "1.3", "run": "b", "nuggets": ["2"]}');
INSERT INTO "standing" VALUES('first','f65eeda8c0c1d1dcaed87afd1dc1f5e3','1.2','list',4,1,'{"question": "1.2", "run": "a", "doc": "D2", "text": "Bob", "judgment": "W"}');
INSERT INTO "standing" VALUES('first','fa2edf4a3b66ec12ee79f7fe2df41db1','1.1','item',9,4,'{"question":"1.1","doc":"D1","text":"1901","assessor":"first assessor","at":"2026-11-15T12:00:00.000Z","judgment":"R"}');
INSERT INTO "standing" VALUES('second','fa2edf4a3b66ec12ee79f7fe2df41db1','1.1','item',11,2,NULL);
CREATE TABLE token (
	id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	account INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	created VARCHAR(40) NOT NULL, 
	used VARCHAR(40), 
	ended VARCHAR(40), 
	CONSTRAINT pk_token PRIMARY KEY (id), 
	CONSTRAINT uq_token_digest UNIQUE (digest), 
	CONSTRAINT fk_token_account FOREIGN KEY(account) REFERENCES account (id)
);
INSERT INTO "token" VALUES(1,'2222222222222222222222222222222222222222222222222222222222222222',1,'scripts','2026-11-15T12:00:00.000Z',NULL,NULL);
CREATE TABLE workload (
	slot INTEGER NOT NULL, 
	"set" VARCHAR(200) NOT NULL, 
	account INTEGER NOT NULL, 
	questions INTEGER DEFAULT '0' NOT NULL, 
	closed INTEGER DEFAULT '0' NOT NULL, 
	total INTEGER DEFAULT '0' NOT NULL, 
	done INTEGER DEFAULT '0' NOT NULL, 
	waiting INTEGER DEFAULT '0' NOT NULL, 
	seconds INTEGER DEFAULT '0' NOT NULL, 
	timed INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_workload PRIMARY KEY (slot, "set", account)
)
 WITHOUT ROWID

;
INSERT INTO "workload" VALUES(1,'first',2,1,1,1,1,0,0,0);
CREATE INDEX ix_record_question ON record (question);
CREATE INDEX ix_session_account ON session (account);
CREATE INDEX ix_token_account ON token (account);
CREATE INDEX ix_answer_question ON answer (question);
CREATE INDEX ix_item_question_ordinal ON item (question, ordinal);
CREATE INDEX ix_assignment_account ON assignment (account);
CREATE INDEX ix_judgment_question ON judgment (question, "set");
CREATE INDEX ix_standing_question ON standing (question, "set");
CREATE INDEX ix_nugget_question ON nugget (question, list);
CREATE INDEX ix_question_mark ON question (draft, version, at, changes);
CREATE INDEX ix_judgment_set ON judgment ("set", id);
CREATE INDEX ix_judgment_account ON judgment (account, "set", id);
CREATE INDEX ix_assignment_open ON assignment (account, id) WHERE closed IS NULL;
CREATE INDEX ix_assignment_leased ON assignment (leased) WHERE leased IS NOT NULL;
CREATE INDEX ix_question_progress_first ON question_progress (first, assessors) WHERE assessors > 0;
CREATE INDEX ix_question_progress_open ON question_progress (ordinal, question, open) WHERE open > 0;
CREATE INDEX ix_question_progress_unassigned ON question_progress (ordinal, question, pooled, assessors) WHERE ordinal IS NOT NULL AND pooled = 1 AND assessors = 0;
CREATE INDEX ix_question_progress_unjudged ON question_progress (ordinal, question, pooled, judged) WHERE ordinal IS NOT NULL AND pooled = 1 AND judged = 0;
CREATE INDEX ix_question_progress_unruled ON question_progress (first, question, unruled, open) WHERE first IS NOT NULL AND unruled > 0 AND open = 0;
CREATE INDEX ix_question_progress_place ON question_progress (ordinal, question);
CREATE TRIGGER tr_question_ordinal_insert AFTER INSERT ON question WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.id) ON CONFLICT DO NOTHING; UPDATE question_progress SET (ordinal) = (SELECT max(ordinal) FROM question WHERE id = NEW.id AND NOT draft) WHERE question = NEW.id; END;
CREATE TRIGGER tr_question_ordinal_update AFTER UPDATE OF id, ordinal, draft ON question WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.id) ON CONFLICT DO NOTHING; UPDATE question_progress SET (ordinal) = (SELECT max(ordinal) FROM question WHERE id = NEW.id AND NOT draft) WHERE question = NEW.id; END;
CREATE TRIGGER tr_question_ordinal_move AFTER UPDATE OF id ON question WHEN OLD.id <> NEW.id BEGIN INSERT INTO question_progress (question) VALUES (OLD.id) ON CONFLICT DO NOTHING; UPDATE question_progress SET (ordinal) = (SELECT max(ordinal) FROM question WHERE id = OLD.id AND NOT draft) WHERE question = OLD.id; END;
CREATE TRIGGER tr_question_ordinal_delete AFTER DELETE ON question WHEN true BEGIN INSERT INTO question_progress (question) VALUES (OLD.id) ON CONFLICT DO NOTHING; UPDATE question_progress SET (ordinal) = (SELECT max(ordinal) FROM question WHERE id = OLD.id AND NOT draft) WHERE question = OLD.id; END;
CREATE TRIGGER tr_item_pooled_insert AFTER INSERT ON item WHEN NOT (NEW.active AND EXISTS (SELECT 1 FROM question_progress WHERE question = NEW.question AND pooled)) BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (pooled) = (SELECT EXISTS (SELECT 1 FROM item WHERE question = NEW.question AND active)) WHERE question = NEW.question; END;
CREATE TRIGGER tr_item_pooled_update AFTER UPDATE OF question, active ON item WHEN NOT (NEW.active AND EXISTS (SELECT 1 FROM question_progress WHERE question = NEW.question AND pooled)) BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (pooled) = (SELECT EXISTS (SELECT 1 FROM item WHERE question = NEW.question AND active)) WHERE question = NEW.question; END;
CREATE TRIGGER tr_item_pooled_move AFTER UPDATE OF question ON item WHEN OLD.question <> NEW.question BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (pooled) = (SELECT EXISTS (SELECT 1 FROM item WHERE question = OLD.question AND active)) WHERE question = OLD.question; END;
CREATE TRIGGER tr_item_pooled_delete AFTER DELETE ON item WHEN true BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (pooled) = (SELECT EXISTS (SELECT 1 FROM item WHERE question = OLD.question AND active)) WHERE question = OLD.question; END;
CREATE TRIGGER tr_standing_judged_insert AFTER INSERT ON standing WHEN NOT (NEW.body IS NOT NULL AND EXISTS (SELECT 1 FROM question_progress WHERE question = NEW.question AND judged)) BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (judged) = (SELECT EXISTS (SELECT 1 FROM standing WHERE question = NEW.question AND body IS NOT NULL)) WHERE question = NEW.question; END;
CREATE TRIGGER tr_standing_judged_update AFTER UPDATE OF question, body ON standing WHEN NOT (NEW.body IS NOT NULL AND EXISTS (SELECT 1 FROM question_progress WHERE question = NEW.question AND judged)) BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (judged) = (SELECT EXISTS (SELECT 1 FROM standing WHERE question = NEW.question AND body IS NOT NULL)) WHERE question = NEW.question; END;
CREATE TRIGGER tr_standing_judged_move AFTER UPDATE OF question ON standing WHEN OLD.question <> NEW.question BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (judged) = (SELECT EXISTS (SELECT 1 FROM standing WHERE question = OLD.question AND body IS NOT NULL)) WHERE question = OLD.question; END;
CREATE TRIGGER tr_standing_judged_delete AFTER DELETE ON standing WHEN true BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (judged) = (SELECT EXISTS (SELECT 1 FROM standing WHERE question = OLD.question AND body IS NOT NULL)) WHERE question = OLD.question; END;
CREATE TRIGGER tr_assignment_first_insert AFTER INSERT ON assignment WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (first, assessors, open) = (SELECT min(id), count(*), count(*) - count(closed) FROM assignment WHERE question = NEW.question) WHERE question = NEW.question; END;
CREATE TRIGGER tr_assignment_first_update AFTER UPDATE OF question, closed ON assignment WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (first, assessors, open) = (SELECT min(id), count(*), count(*) - count(closed) FROM assignment WHERE question = NEW.question) WHERE question = NEW.question; END;
CREATE TRIGGER tr_assignment_first_move AFTER UPDATE OF question ON assignment WHEN OLD.question <> NEW.question BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (first, assessors, open) = (SELECT min(id), count(*), count(*) - count(closed) FROM assignment WHERE question = OLD.question) WHERE question = OLD.question; END;
CREATE TRIGGER tr_assignment_first_delete AFTER DELETE ON assignment WHEN true BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (first, assessors, open) = (SELECT min(id), count(*), count(*) - count(closed) FROM assignment WHERE question = OLD.question) WHERE question = OLD.question; END;
CREATE TRIGGER tr_assignment_done_insert AFTER INSERT ON assignment WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (done, waiting, seconds) = (SELECT coalesce(sum(done), 0), coalesce(sum(CASE WHEN closed IS NULL THEN total - done ELSE 0 END), 0), coalesce(sum(seconds), 0) FROM assignment WHERE question = NEW.question) WHERE question = NEW.question; END;
CREATE TRIGGER tr_assignment_done_update AFTER UPDATE OF question, total, done, closed, seconds ON assignment WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (done, waiting, seconds) = (SELECT coalesce(sum(done), 0), coalesce(sum(CASE WHEN closed IS NULL THEN total - done ELSE 0 END), 0), coalesce(sum(seconds), 0) FROM assignment WHERE question = NEW.question) WHERE question = NEW.question; END;
CREATE TRIGGER tr_assignment_done_move AFTER UPDATE OF question ON assignment WHEN OLD.question <> NEW.question BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (done, waiting, seconds) = (SELECT coalesce(sum(done), 0), coalesce(sum(CASE WHEN closed IS NULL THEN total - done ELSE 0 END), 0), coalesce(sum(seconds), 0) FROM assignment WHERE question = OLD.question) WHERE question = OLD.question; END;
CREATE TRIGGER tr_assignment_done_delete AFTER DELETE ON assignment WHEN true BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (done, waiting, seconds) = (SELECT coalesce(sum(done), 0), coalesce(sum(CASE WHEN closed IS NULL THEN total - done ELSE 0 END), 0), coalesce(sum(seconds), 0) FROM assignment WHERE question = OLD.question) WHERE question = OLD.question; END;
CREATE TRIGGER tr_settled_unruled_insert AFTER INSERT ON settled WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (unruled) = (SELECT coalesce(max(unruled), 0) FROM settled WHERE question = NEW.question) WHERE question = NEW.question; END;
CREATE TRIGGER tr_settled_unruled_update AFTER UPDATE OF question, unruled ON settled WHEN true BEGIN INSERT INTO question_progress (question) VALUES (NEW.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (unruled) = (SELECT coalesce(max(unruled), 0) FROM settled WHERE question = NEW.question) WHERE question = NEW.question; END;
CREATE TRIGGER tr_settled_unruled_move AFTER UPDATE OF question ON settled WHEN OLD.question <> NEW.question BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (unruled) = (SELECT coalesce(max(unruled), 0) FROM settled WHERE question = OLD.question) WHERE question = OLD.question; END;
CREATE TRIGGER tr_settled_unruled_delete AFTER DELETE ON settled WHEN true BEGIN INSERT INTO question_progress (question) VALUES (OLD.question) ON CONFLICT DO NOTHING; UPDATE question_progress SET (unruled) = (SELECT coalesce(max(unruled), 0) FROM settled WHERE question = OLD.question) WHERE question = OLD.question; END;
CREATE TRIGGER tr_workload_insert AFTER INSERT ON assignment BEGIN INSERT INTO workload (slot, "set", account, questions, closed, total, done, waiting, seconds, timed) VALUES (NEW.slot, NEW."set", coalesce(NEW.account, 0), + (1), + (CASE WHEN NEW.closed IS NULL THEN 0 ELSE 1 END), + (NEW.total), + (NEW.done), + (CASE WHEN NEW.closed IS NULL THEN NEW.total - NEW.done ELSE 0 END), + (NEW.seconds), + (CASE WHEN NEW.seconds > 0 THEN NEW.done ELSE 0 END)) ON CONFLICT (slot, "set", account) DO UPDATE SET questions = workload.questions + excluded.questions, closed = workload.closed + excluded.closed, total = workload.total + excluded.total, done = workload.done + excluded.done, waiting = workload.waiting + excluded.waiting, seconds = workload.seconds + excluded.seconds, timed = workload.timed + excluded.timed; END;
CREATE TRIGGER tr_workload_update AFTER UPDATE OF slot, "set", account, total, done, closed, seconds ON assignment BEGIN INSERT INTO workload (slot, "set", account, questions, closed, total, done, waiting, seconds, timed) VALUES (OLD.slot, OLD."set", coalesce(OLD.account, 0), - (1), - (CASE WHEN OLD.closed IS NULL THEN 0 ELSE 1 END), - (OLD.total), - (OLD.done), - (CASE WHEN OLD.closed IS NULL THEN OLD.total - OLD.done ELSE 0 END), - (OLD.seconds), - (CASE WHEN OLD.seconds > 0 THEN OLD.done ELSE 0 END)) ON CONFLICT (slot, "set", account) DO UPDATE SET questions = workload.questions + excluded.questions, closed = workload.closed + excluded.closed, total = workload.total + excluded.total, done = workload.done + excluded.done, waiting = workload.waiting + excluded.waiting, seconds = workload.seconds + excluded.seconds, timed = workload.timed + excluded.timed; INSERT INTO workload (slot, "set", account, questions, closed, total, done, waiting, seconds, timed) VALUES (NEW.slot, NEW."set", coalesce(NEW.account, 0), + (1), + (CASE WHEN NEW.closed IS NULL THEN 0 ELSE 1 END), + (NEW.total), + (NEW.done), + (CASE WHEN NEW.closed IS NULL THEN NEW.total - NEW.done ELSE 0 END), + (NEW.seconds), + (CASE WHEN NEW.seconds > 0 THEN NEW.done ELSE 0 END)) ON CONFLICT (slot, "set", account) DO UPDATE SET questions = workload.questions + excluded.questions, closed = workload.closed + excluded.closed, total = workload.total + excluded.total, done = workload.done + excluded.done, waiting = workload.waiting + excluded.waiting, seconds = workload.seconds + excluded.seconds, timed = workload.timed + excluded.timed; END;
CREATE TRIGGER tr_workload_delete AFTER DELETE ON assignment BEGIN INSERT INTO workload (slot, "set", account, questions, closed, total, done, waiting, seconds, timed) VALUES (OLD.slot, OLD."set", coalesce(OLD.account, 0), - (1), - (CASE WHEN OLD.closed IS NULL THEN 0 ELSE 1 END), - (OLD.total), - (OLD.done), - (CASE WHEN OLD.closed IS NULL THEN OLD.total - OLD.done ELSE 0 END), - (OLD.seconds), - (CASE WHEN OLD.seconds > 0 THEN OLD.done ELSE 0 END)) ON CONFLICT (slot, "set", account) DO UPDATE SET questions = workload.questions + excluded.questions, closed = workload.closed + excluded.closed, total = workload.total + excluded.total, done = workload.done + excluded.done, waiting = workload.waiting + excluded.waiting, seconds = workload.seconds + excluded.seconds, timed = workload.timed + excluded.timed; END;
COMMIT;
