-- Agents: attempts, their inbox, and beside the domain what they are seen to do.
create table attempts (
  id text primary key,
  attempt integer not null,
  agent text not null,
  goal_id text not null,
  node_id text not null,
  status text not null,
  created_at integer not null,
  version integer not null,
  doc text not null
) strict;
create unique index attempts_by_number on attempts (attempt);
create unique index attempts_one_living_per_name on attempts (agent) where status <> 'ended';
create unique index attempts_one_living_per_node on attempts (goal_id, node_id) where status <> 'ended';
create index attempts_by_time on attempts (created_at);

create table messages (
  id text primary key,
  agent text not null,
  attempt integer not null,
  status text not null,
  created_at integer not null,
  version integer not null,
  doc text not null
) strict;
create index messages_waiting on messages (attempt, status, created_at) where status in ('queued', 'handed');

-- Telemetry is not domain truth: bounded, compacted, never rebuilt from the log.
create table signals (
  id integer primary key,
  attempt integer not null,
  source text not null,
  phase text not null,
  at integer not null,
  kind text not null,
  data text not null
) strict;
create unique index signals_once on signals (attempt, source, phase);
create index signals_by_time on signals (attempt, at);

create table pulses (
  attempt integer primary key,
  agent text not null,
  beats integer not null,
  updated_at integer not null,
  doc text not null
) strict;
