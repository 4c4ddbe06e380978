-- The outbox, what was tried to recover each node, and what holds for a part of the fleet.
create table actions (
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
create index actions_open on actions (due_at) where status in ('pending', 'taken', 'failed');
create index actions_over on actions (due_at) where status in ('done', 'dropped');
create index actions_by_node on actions (goal_id, node_id);

create table recoveries (
  id text primary key,
  goal_id text not null,
  node_id text not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;
create index recoveries_by_goal on recoveries (goal_id);

create table conditions (
  id text primary key,
  kind text not null,
  active integer not null,
  updated_at integer not null,
  version integer not null,
  doc text not null
) strict;
