-- How every agent is doing, as the watch judged it last, and what changed in that: telemetry, beside the pulses. It is never
-- rebuilt from the log, and nothing is lost with it but its history.
create table health (
  attempt integer primary key,
  agent text not null,
  status text not null,
  recommendation text not null,
  since integer not null,
  doc text not null
) strict;
create table diagnoses (
  id integer primary key,
  attempt integer not null,
  agent text not null,
  at integer not null,
  doc text not null
) strict;
create index diagnoses_by_agent on diagnoses (agent, id);
