-- What `status` and the live view add up and show of every agent stands in columns: it is asked for again and again, and
-- a document is long. Whoever writes them says for which beat (`metered`); a runner or hook of an older version does not,
-- and then the database reads them out of what it wrote.
alter table attempts add column cost real not null default 0;
alter table pulses add column cost real not null default 0;
alter table pulses add column context_tokens integer not null default 0;
alter table pulses add column context_window integer;
alter table pulses add column turn_since integer;
alter table pulses add column metered integer not null default 0;
create index attempts_by_cost on attempts (goal_id, node_id, cost);
create trigger attempts_cost_added after insert on attempts
  when new.cost is not coalesce(new.doc ->> '$.end.usage.costUsd', 0)
  begin
    update attempts set cost = coalesce(doc ->> '$.end.usage.costUsd', 0) where id = new.id;
  end;
create trigger attempts_cost_changed after update of doc on attempts
  when new.cost is not coalesce(new.doc ->> '$.end.usage.costUsd', 0)
  begin
    update attempts set cost = coalesce(doc ->> '$.end.usage.costUsd', 0) where id = new.id;
  end;
create trigger pulses_meter_added after insert on pulses
  when new.metered is not new.beats
  begin
    update pulses set cost = coalesce(doc ->> '$.usage.costUsd', 0), turn_since = doc ->> '$.turnSince',
      context_tokens = coalesce(doc ->> '$.contextTokens', 0), context_window = doc ->> '$.contextWindow'
      where attempt = new.attempt;
  end;
create trigger pulses_meter_changed after update of doc on pulses
  when new.metered is not new.beats
  begin
    update pulses set cost = coalesce(doc ->> '$.usage.costUsd', 0), turn_since = doc ->> '$.turnSince',
      context_tokens = coalesce(doc ->> '$.contextTokens', 0), context_window = doc ->> '$.contextWindow'
      where attempt = new.attempt;
  end;
update attempts set cost = coalesce(doc ->> '$.end.usage.costUsd', 0);
update pulses set cost = coalesce(doc ->> '$.usage.costUsd', 0), turn_since = doc ->> '$.turnSince',
  context_tokens = coalesce(doc ->> '$.contextTokens', 0), context_window = doc ->> '$.contextWindow';
