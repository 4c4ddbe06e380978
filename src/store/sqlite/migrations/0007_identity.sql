-- Which store this is: a random name, given once and never changed. Copies and backups carry it; a new store has another.
insert or ignore into meta (key, value) values ('identity', 's_' || lower(hex(randomblob(12))));
