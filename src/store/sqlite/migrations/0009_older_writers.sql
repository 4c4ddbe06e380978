-- Agents outlive an update: the runner and the hooks that an older version started know documents only, and write no
-- column of step 8. The database keeps those columns itself whenever a document says something else than they do.
create trigger attempts_added after insert on attempts
  when new.parent is not new.doc ->> '$.parent.attempt' or new.ended_at is not new.doc ->> '$.endedAt'
    or new.announced is not coalesce(new.doc ->> '$.announced', 0)
  begin
    update attempts set parent = doc ->> '$.parent.attempt', announced = coalesce(doc ->> '$.announced', 0),
      ended_at = doc ->> '$.endedAt' where id = new.id;
  end;
create trigger attempts_changed after update of doc on attempts
  when new.parent is not new.doc ->> '$.parent.attempt' or new.ended_at is not new.doc ->> '$.endedAt'
    or new.announced is not coalesce(new.doc ->> '$.announced', 0)
  begin
    update attempts set parent = doc ->> '$.parent.attempt', announced = coalesce(doc ->> '$.announced', 0),
      ended_at = doc ->> '$.endedAt' where id = new.id;
  end;
create trigger pulses_added after insert on pulses
  when new.in_turn is not coalesce(new.doc ->> '$.inTurn', 0) or new.turns is not coalesce(new.doc ->> '$.turns', 0)
  begin
    update pulses set in_turn = coalesce(doc ->> '$.inTurn', 0), turns = coalesce(doc ->> '$.turns', 0)
      where attempt = new.attempt;
  end;
create trigger pulses_changed after update of doc on pulses
  when new.in_turn is not coalesce(new.doc ->> '$.inTurn', 0) or new.turns is not coalesce(new.doc ->> '$.turns', 0)
  begin
    update pulses set in_turn = coalesce(doc ->> '$.inTurn', 0), turns = coalesce(doc ->> '$.turns', 0)
      where attempt = new.attempt;
  end;
-- What an older version has written since step 8.
update attempts set parent = doc ->> '$.parent.attempt', announced = coalesce(doc ->> '$.announced', 0),
  ended_at = doc ->> '$.endedAt';
update pulses set in_turn = coalesce(doc ->> '$.inTurn', 0), turns = coalesce(doc ->> '$.turns', 0);
