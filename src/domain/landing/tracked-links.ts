/**
 * Where the links that a repository tracks lead: whoever changes what a link points to changes what stands under its own
 * name, so a protected link protects that too. A link that leads out of the repository, or to all of it, protects
 * nothing: the one is not ours to land, and with the other nothing would land any more.
 */

/** The path of each link, and what it says. */
export type Links = ReadonlyMap<string, string>;

export interface Way {
  readonly place: string;
  /** The links on the way there. */
  readonly links: readonly string[];
}

/** As deep as a system follows them. */
const MOST_LINKS = 40;

/** Where a path leads, seen from the top of the repository; undefined when it leaves it, or goes in circles. */
export function followLinks(path: string, links: Links): Way | undefined {
  const place: string[] = [];
  const passed: string[] = [];
  const ahead = path.split("/").reverse();
  for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (place.pop() === undefined) return undefined;
      continue;
    }
    place.push(part);
    const here = place.join("/");
    const says = links.get(here);
    if (says === undefined) continue;
    if (says.startsWith("/") || passed.length === MOST_LINKS) return undefined;
    passed.push(here);
    place.pop();
    ahead.push(...says.split("/").reverse());
  }
  return { place: place.join("/"), links: passed };
}

/** What protected links lead to, and the links that are met on the way; a directory stands for all that is below it. */
export function placesBehind(links: Links, isProtected: (path: string) => boolean): string[] {
  const places = new Set<string>();
  // By themselves only: beside the one way that leads through them, what they lead to is free.
  const passed = new Set<string>();
  const open = new Set(links.keys());
  for (let grown = true; grown; ) {
    grown = false;
    for (const link of open) {
      if (!isProtected(link) && !isBelow(link, places)) continue;
      open.delete(link);
      grown = true;
      const way = followLinks(link, links);
      if (way === undefined || way.place === "") continue;
      places.add(way.place);
      for (const each of way.links) passed.add(each);
    }
  }
  return [...new Set([...places, ...passed])];
}

/** True for one of these places itself, and for whatever is below it. */
export function isBelow(path: string, places: ReadonlySet<string>): boolean {
  const parts = path.split("/");
  return parts.some((_part, at) => places.has(parts.slice(0, at + 1).join("/")));
}

/** The pattern as it reads behind the links that it names; undefined when it names none. */
export function patternBehind(pattern: string, links: Links): Way | undefined {
  const parts = pattern.split("/").filter((part) => part !== "");
  const wild = parts.findIndex((part) => /[*?]/.test(part));
  const named = wild === -1 ? parts.length : wild;
  const way = followLinks(parts.slice(0, named).join("/"), links);
  if (way === undefined || way.links.length === 0 || way.place === "") return undefined;
  return { place: [way.place, ...parts.slice(named)].join("/"), links: way.links };
}
