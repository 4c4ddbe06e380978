-- The queue of branches on their way into a target branch.
create table merges (
  id text primary key,
  target text not null,
  status text not null,
  goal_id text,
  node_id text,
  queued_at integer not null,
  version integer not null,
  doc text not null
) strict;
create index merges_by_status on merges (status, queued_at);

-- What checks have found out about trees.
create table verdicts (
  id text primary key,
  tree text not null,
  at integer not null,
  version integer not null,
  doc text not null
) strict;
create index verdicts_by_tree on verdicts (tree);

-- How conflicts were resolved once, by the contents of the three files.
create table resolutions (
  id text primary key,
  at integer not null,
  version integer not null,
  doc text not null
) strict;
