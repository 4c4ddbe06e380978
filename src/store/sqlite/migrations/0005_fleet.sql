-- Whether the fleet moves or is frozen: one row, none while nobody has ever frozen it.
create table fleet (
  id text primary key,
  status text not null,
  since integer not null,
  version integer not null,
  doc text not null
) strict;
