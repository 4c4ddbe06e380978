-- What agents find out, and a full text of what is kept of it. Both are new, so programs of an older version neither read
-- nor spoil them; the full text is kept by triggers, whoever writes, and holds its own copy of the words, because the row
-- ids of a table with a text key are not those of its copy in a backup.
create table learnings (
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
create index learnings_by_time on learnings (status, found_at);
create index learnings_unjudged on learnings (unjudged) where unjudged > 0;
create virtual table learnings_text using fts5 (id unindexed, text, words, tokenize = 'unicode61 remove_diacritics 2');
create trigger learnings_text_added after insert on learnings when new.status = 'kept'
  begin
    insert into learnings_text (id, text, words) values (new.id, new.text, new.words);
  end;
create trigger learnings_text_changed after update of status, text, words on learnings
  when new.status is not old.status or new.text is not old.text or new.words is not old.words
  begin
    delete from learnings_text where id = old.id;
    insert into learnings_text (id, text, words) select new.id, new.text, new.words where new.status = 'kept';
  end;
create trigger learnings_text_removed after delete on learnings
  begin
    delete from learnings_text where id = old.id;
  end;
create index messages_of_syncs on messages (created_at) where kind = 'sync';
