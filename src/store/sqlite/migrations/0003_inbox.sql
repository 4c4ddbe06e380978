-- The inbox of every kind of message: who sent it, which thread it belongs to, and in which order it is handed over.
alter table messages add column kind text not null default 'instruction';
alter table messages add column sender text not null default '';
alter table messages add column thread text not null default '';
alter table messages add column rank integer not null default 0;
alter table messages add column place integer not null default 0;
drop index messages_waiting;
create index messages_waiting on messages (attempt, status, rank, place) where status in ('queued', 'handed');
create index messages_in_box on messages (agent, status, rank, place) where status in ('queued', 'handed');
create index messages_by_box on messages (agent, created_at);
create index messages_by_thread on messages (thread, created_at);
create index attempts_by_name on attempts (agent, attempt);
