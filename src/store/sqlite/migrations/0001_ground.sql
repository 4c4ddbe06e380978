-- The log, its counter, and the first tables folded from it.
create table meta (key text primary key, value text not null) strict;
create table counters (name text primary key, value integer not null) strict;
insert into counters (name, value) values ('seq', 0), ('sum', 0);

create table events (
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
create index events_by_goal on events (goal_id, node_id, seq) where goal_id is not null;
create index events_by_assignment on events (assignment_id, seq) where assignment_id is not null;
create index events_by_agent on events (agent, seq) where agent is not null;

create table goals (
  id text primary key,
  status text not null,
  priority text not null,
  title text not null,
  created_at integer not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;

create table nodes (
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
create index nodes_by_goal on nodes (goal_id, leaf, status);
create index nodes_by_own_id on nodes (node_id);
create index nodes_by_status on nodes (status, goal_id);

create table assignments (
  id text primary key,
  goal_id text not null,
  node_id text not null,
  agent text not null,
  status text not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;
create index assignments_by_node on assignments (goal_id, node_id);
create index assignments_by_status on assignments (status);
create unique index assignments_one_live_per_node on assignments (goal_id, node_id)
  where status not in ('done', 'cancelled');

create table crystallizations (
  id text primary key,
  goal_id text not null,
  node_id text,
  created_at integer not null,
  version integer not null,
  doc text not null
) strict;
create index crystallizations_by_node on crystallizations (goal_id, node_id, created_at);

create table questions (
  id text primary key,
  goal_id text,
  status text not null,
  asked_at integer not null,
  version integer not null,
  doc text not null
) strict;
create index questions_by_status on questions (status, asked_at);
