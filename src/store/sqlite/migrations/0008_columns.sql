-- What a query asks by stands in a column: each database reaches into a document in words of its own.
alter table attempts add column parent integer;
alter table attempts add column announced integer not null default 0;
alter table attempts add column ended_at integer;
update attempts set parent = doc ->> '$.parent.attempt', announced = coalesce(doc ->> '$.announced', 0),
  ended_at = doc ->> '$.endedAt';
alter table pulses add column in_turn integer not null default 0;
alter table pulses add column turns integer not null default 0;
update pulses set in_turn = coalesce(doc ->> '$.inTurn', 0), turns = coalesce(doc ->> '$.turns', 0);
