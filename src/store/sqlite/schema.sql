-- The present schema, after migration 12. Made by scripts/dump-schema.ts; edit a migration instead.

CREATE TABLE actions (
  id text primary key,
  kind text not null,
  goal_id text,
  node_id text,
  attempt integer,
  status text not null,
  due_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX actions_by_node on actions (goal_id, node_id);

CREATE INDEX actions_open on actions (due_at) where status in ('pending', 'taken', 'failed');

CREATE INDEX actions_over on actions (due_at) where status in ('done', 'dropped');

CREATE TABLE assignments (
  id text primary key,
  goal_id text not null,
  node_id text not null,
  agent text not null,
  status text not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX assignments_by_node on assignments (goal_id, node_id);

CREATE INDEX assignments_by_status on assignments (status);

CREATE UNIQUE INDEX assignments_one_live_per_node on assignments (goal_id, node_id)
  where status not in ('done', 'cancelled');

CREATE TABLE attempts (
  id text primary key,
  attempt integer not null,
  agent text not null,
  goal_id text not null,
  node_id text not null,
  status text not null,
  created_at integer not null,
  version integer not null,
  doc text not null
, parent integer, announced integer not null default 0, ended_at integer, cost real not null default 0) strict;

CREATE TRIGGER attempts_added after insert on attempts
  when new.parent is not new.doc ->> '$.parent.attempt' or new.ended_at is not new.doc ->> '$.endedAt'
    or new.announced is not coalesce(new.doc ->> '$.announced', 0)
  begin
    update attempts set parent = doc ->> '$.parent.attempt', announced = coalesce(doc ->> '$.announced', 0),
      ended_at = doc ->> '$.endedAt' where id = new.id;
  end;

CREATE TRIGGER attempts_changed after update of doc on attempts
  when new.parent is not new.doc ->> '$.parent.attempt' or new.ended_at is not new.doc ->> '$.endedAt'
    or new.announced is not coalesce(new.doc ->> '$.announced', 0)
  begin
    update attempts set parent = doc ->> '$.parent.attempt', announced = coalesce(doc ->> '$.announced', 0),
      ended_at = doc ->> '$.endedAt' where id = new.id;
  end;

CREATE TRIGGER attempts_cost_added after insert on attempts
  when new.cost is not coalesce(new.doc ->> '$.end.usage.costUsd', 0)
  begin
    update attempts set cost = coalesce(doc ->> '$.end.usage.costUsd', 0) where id = new.id;
  end;

CREATE TRIGGER attempts_cost_changed after update of doc on attempts
  when new.cost is not coalesce(new.doc ->> '$.end.usage.costUsd', 0)
  begin
    update attempts set cost = coalesce(doc ->> '$.end.usage.costUsd', 0) where id = new.id;
  end;

CREATE INDEX attempts_by_cost on attempts (goal_id, node_id, cost);

CREATE INDEX attempts_by_name on attempts (agent, attempt);

CREATE UNIQUE INDEX attempts_by_number on attempts (attempt);

CREATE INDEX attempts_by_time on attempts (created_at);

CREATE UNIQUE INDEX attempts_one_living_per_name on attempts (agent) where status <> 'ended';

CREATE UNIQUE INDEX attempts_one_living_per_node on attempts (goal_id, node_id) where status <> 'ended';

CREATE TABLE conditions (
  id text primary key,
  kind text not null,
  active integer not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE TABLE counters (name text primary key, value integer not null) strict;

CREATE TABLE crystallizations (
  id text primary key,
  goal_id text not null,
  node_id text,
  created_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX crystallizations_by_node on crystallizations (goal_id, node_id, created_at);

CREATE TABLE diagnoses (
  id integer primary key,
  attempt integer not null,
  agent text not null,
  at integer not null,
  doc text not null
) strict;

CREATE INDEX diagnoses_by_agent on diagnoses (agent, id);

CREATE TABLE events (
  seq integer primary key,
  at integer not null,
  type text not null,
  v integer not null,
  actor text not null,
  goal_id text,
  node_id text,
  assignment_id text,
  agent text,
  attempt integer,
  because text not null,
  data text not null,
  -- A running checksum over the log up to here: bytes that rot in the middle of the file are noticed.
  sum integer not null
) strict;

CREATE INDEX events_by_agent on events (agent, seq) where agent is not null;

CREATE INDEX events_by_assignment on events (assignment_id, seq) where assignment_id is not null;

CREATE INDEX events_by_goal on events (goal_id, node_id, seq) where goal_id is not null;

CREATE TABLE fleet (
  id text primary key,
  status text not null,
  since integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE TABLE goals (
  id text primary key,
  status text not null,
  priority text not null,
  title text not null,
  created_at integer not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE TABLE health (
  attempt integer primary key,
  agent text not null,
  status text not null,
  recommendation text not null,
  since integer not null,
  doc text not null
) strict;

CREATE TABLE learnings (
  id text primary key,
  status text not null,
  kind text not null,
  text text not null,
  words text not null,
  rank real not null,
  found_at integer not null,
  unjudged integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE TRIGGER learnings_text_added after insert on learnings when new.status = 'kept'
  begin
    insert into learnings_text (id, text, words) values (new.id, new.text, new.words);
  end;

CREATE TRIGGER learnings_text_changed after update of status, text, words on learnings
  when new.status is not old.status or new.text is not old.text or new.words is not old.words
  begin
    delete from learnings_text where id = old.id;
    insert into learnings_text (id, text, words) select new.id, new.text, new.words where new.status = 'kept';
  end;

CREATE TRIGGER learnings_text_removed after delete on learnings
  begin
    delete from learnings_text where id = old.id;
  end;

CREATE INDEX learnings_by_time on learnings (status, found_at);

CREATE INDEX learnings_unjudged on learnings (unjudged) where unjudged > 0;

CREATE VIRTUAL TABLE learnings_text using fts5 (id unindexed, text, words, tokenize = 'unicode61 remove_diacritics 2');

CREATE TABLE merges (
  id text primary key,
  target text not null,
  status text not null,
  goal_id text,
  node_id text,
  queued_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX merges_by_status on merges (status, queued_at);

CREATE TABLE messages (
  id text primary key,
  agent text not null,
  attempt integer not null,
  status text not null,
  created_at integer not null,
  version integer not null,
  doc text not null
, kind text not null default 'instruction', sender text not null default '', thread text not null default '', rank integer not null default 0, place integer not null default 0) strict;

CREATE INDEX messages_by_box on messages (agent, created_at);

CREATE INDEX messages_by_thread on messages (thread, created_at);

CREATE INDEX messages_in_box on messages (agent, status, rank, place) where status in ('queued', 'handed');

CREATE INDEX messages_of_syncs on messages (created_at) where kind = 'sync';

CREATE INDEX messages_waiting on messages (attempt, status, rank, place) where status in ('queued', 'handed');

CREATE TABLE meta (key text primary key, value text not null) strict;

CREATE TABLE nodes (
  id text primary key,
  goal_id text not null,
  node_id text not null,
  kind text not null,
  position integer not null,
  leaf integer not null,
  status text not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX nodes_by_goal on nodes (goal_id, leaf, status);

CREATE INDEX nodes_by_own_id on nodes (node_id);

CREATE INDEX nodes_by_status on nodes (status, goal_id);

CREATE TABLE pulses (
  attempt integer primary key,
  agent text not null,
  beats integer not null,
  updated_at integer not null,
  doc text not null
, in_turn integer not null default 0, turns integer not null default 0, cost real not null default 0, context_tokens integer not null default 0, context_window integer, turn_since integer, metered integer not null default 0) strict;

CREATE TRIGGER pulses_added after insert on pulses
  when new.in_turn is not coalesce(new.doc ->> '$.inTurn', 0) or new.turns is not coalesce(new.doc ->> '$.turns', 0)
  begin
    update pulses set in_turn = coalesce(doc ->> '$.inTurn', 0), turns = coalesce(doc ->> '$.turns', 0)
      where attempt = new.attempt;
  end;

CREATE TRIGGER pulses_changed after update of doc on pulses
  when new.in_turn is not coalesce(new.doc ->> '$.inTurn', 0) or new.turns is not coalesce(new.doc ->> '$.turns', 0)
  begin
    update pulses set in_turn = coalesce(doc ->> '$.inTurn', 0), turns = coalesce(doc ->> '$.turns', 0)
      where attempt = new.attempt;
  end;

CREATE TRIGGER pulses_meter_added after insert on pulses
  when new.metered is not new.beats
  begin
    update pulses set cost = coalesce(doc ->> '$.usage.costUsd', 0), turn_since = doc ->> '$.turnSince',
      context_tokens = coalesce(doc ->> '$.contextTokens', 0), context_window = doc ->> '$.contextWindow'
      where attempt = new.attempt;
  end;

CREATE TRIGGER pulses_meter_changed after update of doc on pulses
  when new.metered is not new.beats
  begin
    update pulses set cost = coalesce(doc ->> '$.usage.costUsd', 0), turn_since = doc ->> '$.turnSince',
      context_tokens = coalesce(doc ->> '$.contextTokens', 0), context_window = doc ->> '$.contextWindow'
      where attempt = new.attempt;
  end;

CREATE TABLE questions (
  id text primary key,
  goal_id text,
  status text not null,
  asked_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX questions_by_status on questions (status, asked_at);

CREATE TABLE recoveries (
  id text primary key,
  goal_id text not null,
  node_id text not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX recoveries_by_goal on recoveries (goal_id);

CREATE TABLE resolutions (
  id text primary key,
  at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE TABLE signals (
  id integer primary key,
  attempt integer not null,
  source text not null,
  phase text not null,
  at integer not null,
  kind text not null,
  data text not null
) strict;

CREATE INDEX signals_by_time on signals (attempt, at);

CREATE UNIQUE INDEX signals_once on signals (attempt, source, phase);

CREATE TABLE verdicts (
  id text primary key,
  tree text not null,
  at integer not null,
  version integer not null,
  doc text not null
) strict;

CREATE INDEX verdicts_by_tree on verdicts (tree);
