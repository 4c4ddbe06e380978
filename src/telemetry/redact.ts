/**
 * Takes secrets out of text before anything is kept: database, logs, exports and spool all pass through here, and no
 * setting turns it off. What stays is the kind of credential, so that a person knows what leaked and what to rotate.
 *
 * Three sources of suspicion: a shape only a secret has (a vendor's prefix, a PEM block), a name in front of a value
 * (`DB_PASSWORD=`, `"token":`, `--api-key`), a place (header, URL, credential file). When in doubt about data it
 * redacts; when in doubt about source code it leaves, because a transcript of unreadable code helps nobody.
 *
 * It runs inside hooks, so clean text costs one scan and nothing is compiled before it is needed. Every pattern is
 * bounded or starts at a literal: time stays linear on hostile input. It does not guess from entropy alone, since
 * commit ids, checksums and our own ids look just as random.
 */

/** Replaces every secret by `[redacted:<kind>]`. Never throws; redacting twice changes nothing more. */
export function redact(text: string): string {
  if (!mayHoldSecret(text)) return text;
  let before = text;
  // One replacement can uncover the next (a boundary appears where a neighbour went), hence a fixed point. Two rounds
  // are usual; the bound is there for input built to chain.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const after = redactOnce(before);
    if (after === before) return after;
    before = after;
  }
  return before;
}

/**
 * The same for JSON-like values; property names count as evidence. Returns the very same reference when nothing had
 * to go. A cycle or a value that cannot be read becomes a marker, because what was not looked at must not be kept.
 */
export function redactDeep<T>(value: T): T {
  try {
    return walk(value, { depth: 0, ancestors: new Set() }) as T;
  } catch {
    return marker("unreadable") as T;
  }
}

const MAX_ROUNDS = 8;

function marker(kind: string): string {
  return `[redacted:${kind}]`;
}

function isMarker(text: string): boolean {
  return /^\[redacted:[a-z0-9-]{1,40}\]?(?:[\])},;.\s]|\\[nr])*$/.test(text);
}

/** Compiles on first use: a hook that never meets a secret never pays for the patterns. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const suspicion = lazily(() => {
  const literally = (word: string) => word.replace(/[.+*?^$()[\]{}|\\]/g, "\\$&");
  const hints = [...VENDORS, ...PLACES].flatMap(({ hint, markers }) =>
    hint === undefined ? markers.map(literally) : [hint],
  );
  return new RegExp(`${[...new Set(hints)].join("|")}|${CORE_NAMES}|private[ -](?:key|lines)|\\+[1-9]`, "i");
});

function mayHoldSecret(text: string): boolean {
  return text.length >= 6 && suspicion().test(text);
}

function redactOnce(text: string): string {
  let out = redactPrivateKeys(text);
  out = redactNamedValues(out, "env-lines");
  const lower = out.toLowerCase();
  for (const vendor of VENDORS) {
    if (vendor.markers.some((word) => lower.includes(word.toLowerCase()))) out = redactShape(out, vendor);
  }
  for (const place of PLACES) {
    if (place.markers.some((word) => lower.includes(word))) out = place.redact(out);
  }
  out = redactNamedValues(out, "everything");
  return redactPhones(out);
}

// ── Shapes: what only a secret looks like ──────────────────────────────────────────────────────────────────────────

interface Vendor {
  readonly kind: string;
  /** At least one of these is in every match; a plain search for them is far cheaper than the pattern. */
  readonly markers: readonly string[];
  readonly pattern: () => RegExp;
  /** A stricter pattern for the first scan, where the marker alone is in every other sentence ("task-", "."). */
  readonly hint?: string;
  /** The prefix is short enough to occur inside ordinary words: demand that a word starts here. */
  readonly startsWord: boolean;
}

function shape(
  kind: string,
  markers: string | readonly string[],
  source: string,
  { startsWord = false, hint }: { startsWord?: boolean; hint?: string } = {},
): Vendor {
  const list = typeof markers === "string" ? [markers] : markers;
  return { kind, markers: list, pattern: lazily(() => new RegExp(source, "g")), startsWord, hint };
}

const word = { startsWord: true };

/** Order matters where one prefix contains another: the narrower kind first. */
const VENDORS: readonly Vendor[] = [
  shape("anthropic-api-key", "sk-ant-", "sk-ant-[\\w-]{16,}"),
  shape("openrouter-api-key", "sk-or-", "sk-or-(?:v\\d-)?[\\w-]{20,}"),
  shape(
    "openai-api-key",
    "sk-",
    "sk-(?:(?:proj|svcacct|admin|None)-[\\w-]{20,}|(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{20,})",
    { startsWord: true, hint: "sk-[\\w-]{20}" },
  ),
  shape("google-api-key", "AIza", "AIza[\\w-]{30,}"),
  shape("google-oauth-token", ["ya29.", "GOCSPX-"], "(?:ya29\\.|GOCSPX-)[\\w-]{20,}"),
  shape(
    "aws-access-key",
    ["AKIA", "ASIA", "ABIA"],
    "(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}(?![A-Za-z0-9])(?:[,:][A-Za-z0-9/+]{40})?",
    { startsWord: true, hint: "(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}" },
  ),
  shape("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "gh[pousr]_[A-Za-z0-9]{30,}"),
  shape("github-token", "github_pat_", "github_pat_\\w{30,}"),
  shape("gitlab-token", "gl", "gl(?:pat|dt|rt|ft|cbt|ptt|soat|imt|agent|oas)-[\\w-]{18,}(?:\\.[\\w-]{2,40}){0,2}", {
    startsWord: true,
    hint: "gl[a-z]{2,5}-[\\w-]{18}",
  }),
  shape("slack-token", ["xox", "xapp-"], "(?:xox[abceoprs](?:\\.xox[bp])?|xapp)-[\\w-]{10,}"),
  shape("slack-webhook", "hooks.slack.com/", "hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/-]{12,}"),
  shape("stripe-key", ["k_live_", "k_test_"], "[srp]k_(?:live|test)_[A-Za-z0-9]{10,}", word),
  shape("webhook-secret", "whsec_", "whsec_[A-Za-z0-9+/=]{20,}"),
  shape("twilio-auth", "AC", "AC[0-9a-f]{32}:[0-9a-f]{32}(?![A-Za-z0-9])", {
    startsWord: true,
    hint: "AC[0-9a-f]{32}",
  }),
  shape("twilio-api-key", "SK", "SK[0-9a-f]{32}(?![A-Za-z0-9])", { startsWord: true, hint: "SK[0-9a-f]{32}" }),
  shape("sendgrid-api-key", "SG.", "SG\\.[\\w-]{16,}\\.[\\w-]{16,}", word),
  shape("npm-token", "npm_", "npm_[A-Za-z0-9]{30,}", word),
  shape("pypi-token", "pypi-", "pypi-[\\w-]{50,}", word),
  shape("huggingface-token", ["hf_", "api_org_"], "(?:hf|api_org)_[A-Za-z0-9]{30,}", {
    startsWord: true,
    hint: "(?:hf|api_org)_[A-Za-z0-9]{30}",
  }),
  shape("digitalocean-token", "_v1_", "do[opr]_v1_[a-f0-9]{40,}"),
  shape("discord-webhook", "/api/webhooks/", "discord(?:app)?\\.com/api/webhooks/\\d{5,25}/[\\w-]{20,}"),
  shape("discord-bot-token", ".", "[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,45}", {
    startsWord: true,
    hint: "[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.",
  }),
  shape("telegram-bot-token", ":AA", "(?<!\\d)\\d{8,10}:AA[\\w-]{32,}", { hint: "\\d:AA[\\w-]{32}" }),
  shape("linear-api-key", "lin_", "lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
  shape("notion-token", ["secret_", "ntn_"], "(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})", word),
  shape("databricks-token", "dapi", "dapi[a-f0-9]{32}(?:-\\d)?(?![A-Za-z0-9])", word),
  shape("cloudflare-token", "v1.0-", "v1\\.0-[a-f0-9]{24}-[a-f0-9]{100,}", word),
  shape("heroku-api-key", "HRKU-", "HRKU-[\\w-]{30,}"),
  shape("mailgun-api-key", "key-", "key-[a-f0-9]{32}(?![A-Za-z0-9])", { startsWord: true, hint: "key-[a-f0-9]{32}" }),
  shape("age-secret-key", "AGE-SECRET-KEY-", "AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
  shape("vault-token", ["hvs.", "hvb.", "hvr."], "hv[sbr]\\.[\\w-]{20,}", word),
  shape("shopify-token", "shp", "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", { startsWord: true, hint: "shp[a-z]{2}_" }),
  shape("groq-api-key", "gsk_", "gsk_[A-Za-z0-9]{30,}", word),
  shape("xai-api-key", "xai-", "xai-[A-Za-z0-9]{40,}", word),
  shape("perplexity-api-key", "pplx-", "pplx-[A-Za-z0-9]{30,}", word),
  shape("replicate-token", "r8_", "r8_[A-Za-z0-9]{30,}", { startsWord: true, hint: "r8_[A-Za-z0-9]{30}" }),
  shape("postman-api-key", "PMAK-", "PMAK-[a-f0-9]{20,}-[a-f0-9]{20,}"),
  shape("grafana-token", ["glsa_", "glc_"], "(?:glsa|glc)_[\\w+/=]{30,}", word),
  shape("sentry-token", "sntry", "sntry[su]_[\\w+/=]{40,}", word),
  shape("newrelic-key", "NRAK-", "NRAK-[A-Z0-9]{20,}"),
  shape("docker-token", "dckr_", "dckr_(?:pat|oat)_[\\w-]{20,}"),
  shape("atlassian-token", "ATATT3", "ATATT3[\\w=-]{50,}"),
  shape("terraform-token", ".atlasv1.", "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{40,}", word),
  shape("planetscale-token", "pscale_", "pscale_(?:tkn|pw|oauth)_[\\w.-]{30,}"),
  shape("supabase-token", ["sbp_", "sb_secret_"], "(?:sbp_[a-f0-9]{40}|sb_secret_[\\w-]{20,})", word),
  shape("tailscale-key", "tskey-", "tskey-[a-z]{2,10}-[\\w-]{16,}"),
  shape("figma-token", "figd_", "figd_[\\w-]{30,}"),
  shape("airtable-token", "pat", "pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}", {
    startsWord: true,
    hint: "pat[A-Za-z0-9]{14}\\.",
  }),
  shape("1password-token", "ops_eyJ", "ops_eyJ[\\w+/=-]{50,}"),
  shape("jwt", "eyJ", "(?:(?<![\\w-])|(?<=\\\\[nrt]))eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}(?:\\.[\\w-]{8,}){1,3}"),
  shape(
    "signed-url",
    ["sig=", "-signature="],
    "(?<=[?&;](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=)[\\w%+/=-]{30,}",
  ),
];

function redactShape(text: string, vendor: Vendor): string {
  return text.replace(vendor.pattern(), (match: string, ...rest: unknown[]) => {
    const offset = rest.find((part) => typeof part === "number") as number;
    if (vendor.startsWord && !startsWord(text, offset)) return match;
    return marker(vendor.kind);
  });
}

/** True when no word runs into `index`; the tail of `\n`, `%22`, `\u0022` or a colour code does not count as a word. */
function startsWord(text: string, index: number): boolean {
  if (index === 0 || !/[\w-]/.test(text.charAt(index - 1))) return true;
  return /(?:\\[nrtbf]|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\[[\d;]{0,9}m)$/i.test(text.slice(Math.max(0, index - 12), index));
}

// ── Private keys ───────────────────────────────────────────────────────────────────────────────────────────────────

/** Longer than any real key; an END further away belongs to something else. */
const MAX_KEY_CHARS = 64 * 1024;

const keyHeader = lazily(() => /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g);

function redactPrivateKeys(text: string): string {
  if (!text.includes("PRIVATE KEY")) return redactPuttyKeys(text);
  const header = keyHeader();
  let out = "";
  let done = 0;
  let end = -2; // -2: not looked yet; -1: none left, never search again
  header.lastIndex = 0;
  for (let found = header.exec(text); found !== null; found = header.exec(text)) {
    const bodyStart = found.index + found[0].length;
    if (end !== -1 && end < bodyStart) end = endOfPem(text, bodyStart);
    const next = text.indexOf("----BEGIN ", bodyStart);
    const isNearest = next === -1 || next > end;
    const closed =
      isNearest && end !== -1 && end - bodyStart <= MAX_KEY_CHARS && hasKeyBody(text.slice(bodyStart, end));
    const stop = closed ? end : endOfOpenKey(text, bodyStart);
    if (stop === bodyStart) continue;
    out += text.slice(done, found.index) + marker("private-key");
    done = stop;
    header.lastIndex = stop;
  }
  return redactPuttyKeys(done === 0 ? text : out + text.slice(done));
}

function endOfPem(text: string, from: number): number {
  const five = text.indexOf("-----END ", from);
  const start = five === -1 ? text.indexOf("---- END ", from) : five;
  if (start === -1) return -1;
  const tail = /^-{4,5} ?END [A-Z0-9 ]{0,60}-{0,5}/.exec(text.slice(start, start + 80));
  return start + (tail?.[0].length ?? 0);
}

/** Source code may name header and footer in one breath; a key has a run of base64 between them. */
function hasKeyBody(body: string): boolean {
  return /[A-Za-z0-9+/=]{16}/.test(body);
}

/** A key cut off in the middle: take every following line that still looks like one. */
function endOfOpenKey(text: string, from: number): number {
  const line = /(?:\r?\n|\\{1,4}[nr]|[ \t]|^)([^\r\n\\ \t]{0,4096})/y;
  const limit = Math.min(text.length, from + MAX_KEY_CHARS);
  let stop = from;
  let sawBody = false;
  line.lastIndex = from;
  while (line.lastIndex < limit) {
    const found = line.exec(text);
    if (found === null || found[0] === "") break;
    const piece = (found[1] ?? "").replace(/^[^A-Za-z0-9+/=]{1,4}/, "");
    const run = /^[A-Za-z0-9+/]*={0,2}/.exec(piece)?.[0] ?? "";
    if (run.length >= 16 || (sawBody && run.length >= 2 && run.length === piece.length && /[\d+/=]/.test(run))) {
      sawBody = true;
      stop = line.lastIndex - (piece.length - run.length);
      // A closing quote or brace behind the run ends the string that held the key.
      if (run.length < piece.length && !/^[^A-Za-z0-9]{1,3}$/.test(piece.slice(run.length))) break;
      continue;
    }
    const decoration =
      piece === "" ||
      /^(?:\d{1,6}[→:|]?|[\w-]{1,20}:|4,ENCRYPTED|[A-Z0-9-]{6,16},[A-F0-9]{16,64}|GnuPG|v\d.*)$/.test(piece);
    if (!decoration) break;
  }
  return sawBody ? stop : from;
}

function redactPuttyKeys(text: string): string {
  if (!text.includes("Private-Lines:")) return text;
  return text.replace(
    /(Private-Lines: \d{1,4}(?:\r?\n|\\n))(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\\n|$)){1,400}/g,
    (_all, head: string) => `${head}${marker("private-key")}\n`,
  );
}

// ── Places: headers, URLs, command lines, credential files ─────────────────────────────────────────────────────────

interface Place {
  /** Lower case; one of them is in every match. */
  readonly markers: readonly string[];
  readonly hint?: string;
  readonly redact: (text: string) => string;
}

/** Replaces what follows the first group of `pattern` when it is a real value and not a placeholder. */
function place(kind: string, markers: readonly string[], source: string, hint?: string): Place {
  const pattern = lazily(() => new RegExp(source, "gi"));
  const swap = (match: string, head: string, value: string, tail: unknown): string => {
    if (isMarker(value) || isStandIn(value)) return match;
    return `${head}${marker(kind)}${typeof tail === "string" ? tail : ""}`;
  };
  return { markers, hint, redact: (text) => text.replace(pattern(), swap) };
}

/** A word begins here, be it right behind the `\\n` of a JSON string. */
const START = "(?:\\b|(?<=\\\\[nrt]))";
const QUOTE = "\\\\{0,3}[\"'`]";
const PLACES: readonly Place[] = [
  place(
    "basic-auth",
    ["authorization"],
    `(authorization(?:${QUOTE})?[ \\t]{0,4}[:=,][ \\t]{0,4}(?:${QUOTE})?basic[ \\t]{1,4})([^\\s"'\`\\\\,;]{4,})`,
  ),
  place(
    "bearer-token",
    ["authorization"],
    `(authorization(?:${QUOTE})?[ \\t]{0,4}[:=,][ \\t]{0,4}(?:${QUOTE})?(?:bearer|token|apikey|api-key|key|negotiate|digest|oauth|splunk|bot)[ \\t]{1,4})([^\\s"'\`\\\\,;]{4,})`,
  ),
  place(
    "authorization",
    ["authorization"],
    `(authorization(?:${QUOTE})?[ \\t]{0,4}[:=][ \\t]{0,4}(?:${QUOTE})?)((?=[A-Za-z+/=_.-]{0,80}\\d)[\\w+/=.~-]{16,})`,
  ),
  place(
    "bearer-token",
    ["bearer "],
    "((?:\\b|(?<=\\\\[nrt]))bearer {1,4})((?=[A-Za-z+/=_.~-]{0,200}\\d)[\\w+/=.~-]{16,})",
    "bearer [\\w+/=.~-]{16}",
  ),
  { markers: ["cookie"], redact: redactCookies },
  {
    markers: ["://"],
    hint: "://[^\\s/@]{0,256}:[^\\s]",
    redact: (text) => text.replace(urlCredential(), swapUrlPassword),
  },
  place(
    "password",
    ["machine", "default"],
    `((?:machine(?:\\s|\\\\n){1,8}[^\\s\\\\]{1,256}|default)(?:\\s|\\\\n){1,8}(?:login|user)(?:\\s|\\\\n){1,8}[^\\s\\\\]{1,256}(?:\\s|\\\\n){1,8}(?:account(?:\\s|\\\\n){1,8}[^\\s\\\\]{1,256}(?:\\s|\\\\n){1,8})?password(?:\\s|\\\\n){1,8})([^\\s"'\\\\]{1,512})`,
    "machine\\s",
  ),
  place(
    "pgpass-password",
    [":"],
    "((?:(?<![\\w./@-])|(?<=\\\\[nrt]))(?:\\*|localhost|\\d{1,3}(?:\\.\\d{1,3}){3}|[a-z0-9-]{1,63}(?:\\.[a-z0-9-]{1,63}){0,6}\\.(?:com|net|org|io|dev|internal|local|cloud|example|test)):(?:\\*|5\\d{3}|6\\d{3}|2\\d{4}):[\\w*-]{1,63}:[\\w*-]{1,63}:)([^\\s\"'`\\\\]{1,256})",
    ":(?:\\*|[256]\\d{3,4}):",
  ),
  place(
    "docker-auth",
    ["auth"],
    `((?:${QUOTE})auth(?:${QUOTE})[ \\t]{0,4}:[ \\t]{0,4}(?:${QUOTE}))([A-Za-z0-9+/=]{8,})`,
    "auth\\\\{0,3}[\"'`]",
  ),
  place("npm-auth", [":_auth", "_auth="], "((?<![\\w-])_auth[ \\t]{0,4}=[ \\t]{0,4}[\"']?)([A-Za-z0-9+/=]{8,})"),
  place(
    "password",
    ["mysql", "mariadb"],
    `(${START}(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)\\b[^\\n|;&]{0,200}?\\s-p(?:${QUOTE})?)([^\\s"'\`\\\\-][^\\s"'\`\\\\]{0,256})`,
  ),
  place(
    "password",
    ["sshpass", "redis-cli", "docker login", "podman login"],
    `(${START}(?:sshpass[ \\t]{1,4}-p|redis-cli\\b[^\\n|;&]{0,200}?\\s-a|(?:docker|podman)[ \\t]login\\b[^\\n|;&]{0,200}?\\s-p)[ \\t]{0,4}(?:${QUOTE})?)([^\\s"'\`\\\\-][^\\s"'\`\\\\]{0,256})`,
  ),
  place(
    "password",
    ["curl", "wget"],
    `(${START}(?:curl|wget)\\b[^\\n]{0,200}?\\s(?:-u|--user|--proxy-user)[ =]{0,2}(?:${QUOTE})?[^\\s:"'\`]{1,128}:)([^\\s"'\`\\\\]{1,256})`,
  ),
];

// The password may hold '/', '@' or ':' (people forget to escape), but never the start of another URL.
const urlCredential = lazily(() => /(:\/\/[^\s:@/?#"'`<>[\]\\]{0,256}:)((?:(?!:\/\/)[^\s"'`<>\\]){1,512})@/g);

function swapUrlPassword(match: string, head: string, password: string): string {
  // `host:8080/path@v1` is a port, not a password.
  if (/^\d{1,5}[/?#]/.test(password) || isMarker(password) || isStandIn(password)) return match;
  return `${head}${marker("password")}@`;
}

const cookieHeader = lazily(
  () =>
    /((?:\\{0,3}["'`])?)(?:\b|(?<=\\[nrt]))((?:set-)?cookie2?)((?:\\{0,3}["'`])?[ \t]{0,4}:[ \t]{0,4})((?:\\{0,3}["'`])?)(?=[\w!#$%&*+.^|~-]{1,128}=[^\s"'`;\\])/gi,
);

/** A cookie runs to the end of its line or of the quotes around it; all of it goes, names included. */
function redactCookies(text: string): string {
  const header = cookieHeader();
  let out = "";
  let done = 0;
  header.lastIndex = 0;
  for (let found = header.exec(text); found !== null; found = header.exec(text)) {
    const start = found.index + found[0].length;
    const quote = found[4] || found[1] || "";
    const end = quote === "" ? endOfLine(text, start) : endOfQuoted(text, start, quote);
    header.lastIndex = end;
    const firstValue = text.slice(text.indexOf("=", start) + 1, end).split(";", 1)[0] ?? "";
    if (isStandIn(firstValue) || isMarker(text.slice(start, end))) continue;
    out += text.slice(done, start) + marker("cookie");
    done = end;
  }
  return done === 0 ? text : out + text.slice(done);
}

function endOfLine(text: string, from: number): number {
  const stop = /\r|\n|\\{1,4}[nr]/g;
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

/** Where the string opened by `quote` (perhaps itself escaped, as in JSON within JSON) closes; else its line's end. */
function endOfQuoted(text: string, from: number, quote: string): number {
  const plain = quote.length === 1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) return at;
    if (plain && code === 92) at += 1;
    else if (text.startsWith(quote, at)) return at;
  }
  return text.length;
}

// ── Phone numbers ──────────────────────────────────────────────────────────────────────────────────────────────────

const phone = lazily(() => /\+[1-9]\d{0,14}(?:(?:[ .-]|[ .-]?\(|\)[ .-]?)\d{1,14}){0,7}/g);
const callingCode = lazily(
  () =>
    /^(?:1(?=[2-9])|7|2[07]|2[1-69]\d|3[0-469]|3[578]\d|4[013-9]|42\d|5[09]\d|5[1-8]|6[0-6]|6[789]\d|8[1246]|8[0578]\d|9[0-58]|9[679]\d)/,
);

function redactPhones(text: string): string {
  if (!text.includes("+")) return text;
  return text.replace(phone(), (match: string, offset: number) => {
    // `1.0.0+20130313144700`, `a+4915123456789` and `f(x)+…` are not numbers to call.
    if (!startsWord(text, offset) || /[)\].+]/.test(text.charAt(offset - 1))) return match;
    // `… 0A`: the last group runs on into a word, so it is not part of a number.
    const runsOn = /[A-Za-z_]/.test(text.charAt(offset + match.length));
    const called = longestPhone(runsOn ? match.slice(0, Math.max(0, lastGroup(match))) : match);
    return called === 0 ? match : marker("phone-number") + match.slice(called);
  });
}

/** How many characters of `candidate` are a phone number (0: none); trailing groups may be other numbers. */
function longestPhone(candidate: string): number {
  let length = candidate.length;
  while (length > 0) {
    const digits = candidate.slice(0, length).replace(/\D/g, "");
    const code = callingCode().exec(digits)?.[0];
    if (code === undefined) return 0;
    const fixed = code === "1" || code === "7";
    if (fixed ? digits.length === 11 : digits.length >= 10 && digits.length <= 14) return length;
    length = lastGroup(candidate.slice(0, length));
  }
  return 0;
}

function lastGroup(candidate: string): number {
  return candidate.search(/[ .()-]{1,3}\d+$/);
}

// ── Names in front of values ───────────────────────────────────────────────────────────────────────────────────────

/** Found first; the whole identifier around it is then judged word by word. */
const CORE_NAMES =
  "secret|token(?!s)|passw|passphrase|pwd|credential|api[_-]?key|access[_-]?key|(?:private|account|auth|encryption|signing|master|shared|client|service)[_-]?key|_pat\\b|_key=";

const coreName = lazily(() => new RegExp(CORE_NAMES, "gi"));

/** Strong: a value here is a secret whatever it looks like. Weak: the word has other meanings (a parser's token). */
type NameStrength = "strong" | "weak" | "none";

type Setting =
  | "data" /** JSON property: judged by the name alone */
  | "env" /** NAME=value */
  | "quoted" /** name = "value" in code or config */
  | "tight" /** name=value: query strings, connection strings, keyword arguments */
  | "line" /** name: value, alone on its line */
  | "loose"; /** anything that may be prose or code */

const STRONG_WORDS = /(?:password|passwd|passphrase|secret|^pwd|^passw|credentials?)$/;
const WEAK_WORDS = /(?:token|apikey|accesskey|privatekey|^pat)$/;
const KEY_OWNERS =
  /^(?:api|private|access|secret|account|auth|encryption|signing|master|shared|client|service|storage|session|license|admin)$/;
/** `token_count`, `PASSWORD_FILE`, `secretName`: about the secret, not the secret. */
const ABOUT_WORDS =
  /^(?:counts?|budget|limit|ids?|name|names|file|files|path|dir|url|uri|type|kind|length|len|size|usage|used|ttl|expiry|expires|expiration|at|in|age|max|min|policy|field|header|ref|env|var|prompt|index|version|required|enabled|disabled|rotation|label|placeholder|regex|pattern|hint|manager|store|provider|reset|strength|rules|lifetime|issuer|endpoint|scopes?|algorithm|cost|price|rate|stdin|command|cmd|helper|audience|status|state|error|message|description|title|column|table|input|output|estimate|total|seconds|ms|days|valid|set|present|configured|bucket|window|kinds|types|class|color|colour|start|end|pos|position|offset|line)$/;

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function nameStrength(name: string): NameStrength {
  const words = wordsOf(name);
  if (ABOUT_WORDS.test(words.at(-1) ?? "")) return "none";
  let strength: NameStrength = "none";
  for (const [index, word] of words.entries()) {
    if (STRONG_WORDS.test(word)) return "strong";
    if (WEAK_WORDS.test(word)) strength = "weak";
    if ((word === "key" || word === "keys") && KEY_OWNERS.test(words[index - 1] ?? "")) strength = "weak";
  }
  // `STRIPE_KEY=`: in an environment, a name that ends in KEY is one.
  if (strength === "none" && /^[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*KEY$/.test(name)) return "weak";
  return strength;
}

interface NamedValue {
  readonly name: string;
  readonly setting: Setting;
  readonly start: number;
  readonly end: number;
}

type Which = "env-lines" | "everything";

function redactNamedValues(text: string, which: Which): string {
  const core = coreName();
  let out = "";
  let done = 0;
  core.lastIndex = 0;
  for (let found = core.exec(text); found !== null; found = core.exec(text)) {
    const named = namedValueAt(text, found.index, which);
    core.lastIndex = Math.max(core.lastIndex, named.nameEnd);
    const { value } = named;
    if (value === undefined || value.start < done) continue;
    if (!isCredential(value.name, text.slice(value.start, value.end), value.setting)) continue;
    out += text.slice(done, value.start) + marker(value.setting === "env" ? "env-value" : "credential");
    done = value.end - value.start < MAX_BARE_CHARS ? value.end : endOfRun(text, value.end);
    core.lastIndex = Math.max(core.lastIndex, done);
  }
  return done === 0 ? text : out + text.slice(done);
}

const MAX_NAME_CHARS = 80;

/** Reads the identifier around `at`, the operator behind it and the value behind that. */
function namedValueAt(text: string, at: number, which: Which): { nameEnd: number; value?: NamedValue } {
  let start = at;
  while (start > 0 && at - start < MAX_NAME_CHARS && isNameChar(text.charCodeAt(start - 1))) start -= 1;
  if (text.charAt(start - 1) === "\\" && /[nrt]/.test(text.charAt(start)) && start < at) start += 1;
  let nameEnd = at;
  while (nameEnd < text.length && nameEnd - at < MAX_NAME_CHARS && isNameChar(text.charCodeAt(nameEnd))) nameEnd += 1;
  if (nameEnd - at === MAX_NAME_CHARS || text.slice(start - 9, start) === "redacted:") return { nameEnd };

  const raw = text.slice(start, nameEnd);
  const dashes = /^-{1,2}/.exec(raw)?.[0].length ?? 0;
  const name = raw.slice(dashes);
  if (nameStrength(name) === "none") return { nameEnd };
  const operator = /(\\{0,3}["'`])?\]?([ \t]{0,8})(:=|=>|!==?|={1,3}|:|,(?=[ \t]{0,4}\\{0,3}["'`]))?([ \t]{0,8})/y;
  operator.lastIndex = nameEnd;
  const found = operator.exec(text);
  if (found === null) return { nameEnd };
  const [all, nameQuote, before, sign, after] = found;
  if (sign === undefined && (dashes === 0 || nameQuote !== undefined || before === "")) return { nameEnd };
  if (sign === "," && nameQuote === undefined) return { nameEnd };
  const spot = {
    name,
    from: nameEnd + all.length,
    isFlag: dashes > 0 && start + dashes <= at,
    // Backticks around a name are Markdown, not data.
    isProperty: nameQuote !== undefined && !nameQuote.endsWith("`") && sign === ":",
    sign: sign ?? " ",
    isTight: before === "" && after === "",
    opensLine: opensLine(text, start),
  };
  // `NAME= next`: empty, and what follows is something else.
  if (before === "" && after !== "" && sign !== ":" && sign !== undefined && sign !== ",") return { nameEnd };
  return { nameEnd, value: which === "env-lines" && !isEnvLine(spot) ? undefined : readValue(text, spot) };
}

interface Spot {
  readonly name: string;
  readonly from: number;
  readonly isFlag: boolean;
  readonly isProperty: boolean;
  readonly sign: string;
  readonly isTight: boolean;
  readonly opensLine: boolean;
}

function isEnvLine(spot: Spot): boolean {
  return spot.sign === "=" && spot.isTight && /^[A-Z_][A-Z0-9_]*$/.test(spot.name);
}

/** A value is judged by its beginning; reading each to its end before rejecting it would be quadratic. */
const MAX_BARE_CHARS = 512;

function endOfRun(text: string, from: number): number {
  const run = /[^\s"'`\\]*/y;
  run.lastIndex = from;
  return from + (run.exec(text)?.[0].length ?? 0);
}

function readValue(text: string, spot: Spot): NamedValue | undefined {
  const { name } = spot;
  const isEnv = isEnvLine(spot);
  const opening = /(?:[bruBRU]{1,2}(?=["']))?(\\{0,3}["'`])/y;
  opening.lastIndex = spot.from;
  const quote = opening.exec(text);
  if (quote !== null) {
    const start = spot.from + quote[0].length;
    // `{"line":"API_KEY="}`: this quote closes a string that was opened earlier, and the value is empty.
    if (/^(?:[\s,}\]):;\\]|$)/.test(text.charAt(start))) return undefined;
    const end = endOfQuoted(text, start, quote[1] ?? '"');
    // `set("X-Api-Key", "…")` is a name and its value; `{"a":"password","b":1}` is a value and the next property.
    if (spot.sign === "," && text.charAt(end + (quote[1] ?? '"').length) === ":") return undefined;
    const setting = isEnv ? "env" : spot.isProperty ? "data" : spot.sign === "," ? "loose" : "quoted";
    return { name, start, end, setting };
  }
  const isLine = spot.sign === ":" && spot.opensLine;
  const bare =
    (isEnv && spot.opensLine) || isLine
      ? /(?:[^\s"'`\\]|\\(?![nrt"'`\\])){1,512}/y
      : /(?:[^\s"'`\\,;&|<>]|\\(?![nrt"'`\\])){1,512}/y;
  bare.lastIndex = spot.from;
  const found = bare.exec(text);
  if (found === null) return undefined;
  const value = isMarker(found[0]) ? found[0] : closedHere(found[0], isEnv || isLine);
  const end = spot.from + value.length;
  const alone =
    isLine && value.length === found[0].length && /^[ \t]{0,8}(?:$|[\r\n#"'`]|\\)/.test(text.slice(end, end + 10));
  const setting: Setting = isEnv ? "env" : spot.sign === "=" && spot.isTight ? "tight" : alone ? "line" : "loose";
  if (setting === "loose" && spot.isFlag && spot.sign === " " && isFlagValue(name, value))
    return { name, start: spot.from, end, setting: "tight" };
  return { name, start: spot.from, end, setting };
}

/** `f(token=abc)` and `{token:abc}`: a bracket that closes something opened before the value is not part of it. */
function closedHere(run: string, wholeLine: boolean): string {
  const closing = wholeLine ? -1 : run.search(/[)}\]]/);
  const opensInside = closing !== -1 && /[({[]/.test(run.slice(0, closing));
  return closing > 0 && !opensInside ? run.slice(0, closing) : run.replace(/[)\]},;]{1,8}$/, "");
}

/** `--password swordfish` against "the --password flag": short common words after a flag are prose. */
function isFlagValue(name: string, value: string): boolean {
  if (value.startsWith("-") || nameStrength(name) !== "strong") return false;
  return !/^(?:to|flag|flags|option|options|is|are|or|and|for|in|on|with|from|of|as|at|if|it|the|a|an|argument|arg|value|switch|parameter|was|will|can|must|should|needs|when|so|but|not|instead|via|here|there|then|that|which|too|also|again|first)[.,:;)]?$/i.test(
    value,
  );
}

function isNameChar(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45 ||
    code === 46
  );
}

function opensLine(text: string, start: number): boolean {
  const lead = text.slice(Math.max(0, start - 40), start);
  return /(?:^|[\r\n]|\\[nr])[ \t]*(?:[-+>] ?)?(?:export |set |setx |declare -x |ENV |ARG )?["']?$/.test(lead);
}

// ── Is this value a credential? ────────────────────────────────────────────────────────────────────────────────────

function isCredential(name: string, rawValue: string, setting: Setting): boolean {
  const value = rawValue.trim();
  const strength = nameStrength(name);
  if (strength === "none" || value === "" || isMarker(value) || isStandIn(value)) return false;
  if (COMMON_WORDS.test(value) || namesTheSame(name, value)) return false;
  if (/^[\d_,.]+$/.test(value) && (strength === "weak" || setting === "loose")) return false;
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\/[^@]*$/i.test(value)) return false;
  switch (setting) {
    case "data":
      return true;
    case "env":
      return !/^[A-Za-z_][\w.]*\((?:$|.*\))/.test(value);
    case "quoted":
      return strength === "strong" ? /[A-Za-z0-9]/.test(value) : looksRandom(value, 8);
    case "tight":
    case "line":
      return strength === "strong" ? !isExpression(value) : looksRandom(value, 8);
    case "loose":
      return looksRandom(value, strength === "strong" ? 6 : 8) && !isExpression(value);
  }
}

/** Stands where a secret will be: a placeholder, a reference to a variable or to a file, a mask. */
function isStandIn(value: string): boolean {
  return (
    /^(?:<[^>]*>?|\[[^\]]*\]|\{.*|%[sdv]|%\w+%|\$[A-Za-z_]\w*|\$[{(].*|[*.•…xX_-]+|:\w+|\?)[)\]},;.]*$/.test(value) ||
    /^(?:your|insert|replace|enter)[-_ ]/i.test(value) ||
    isTemplate(value) ||
    /^(?:process|import\.meta|os|Deno|Bun|System)\.(?:env|getenv|environ)|^(?:secrets|vars|env|inputs)\.\w|^op:\/\/|^env:/.test(
      value,
    ) ||
    /^(?:~|\.{1,2})\/|^\/(?:run|etc|var|home|Users|tmp|opt|usr|proc|dev|mnt|secrets|root)\//.test(value)
  );
}

/** `Bearer-${token}`: text around a hole that is filled later, unless that text looks like a secret on its own. */
function isTemplate(value: string): boolean {
  const rest = value.replace(/\$\{[^}]*\}?|\{\{[^}]*\}{0,2}/g, " ");
  return rest !== value && !/(?=[A-Za-z]{0,32}\d)(?=\d{0,32}[A-Za-z])[A-Za-z0-9]{8}/.test(rest);
}

/** Words that stand in such fields without being secret: types, states, schemes, modes. */
const COMMON_WORDS =
  /^(?:null|none|nil|undefined|true|false|yes|no|on|off|string|str|text|number|int|integer|boolean|bool|bytes|buffer|any|unknown|object|never|void|required|optional|hidden|redacted|masked|omitted|invalid|missing|wrong|incorrect|expired|valid|empty|default|include|omit|same-origin|inherit|bearer|basic|digest|oauth|oauth2|refresh|access|session|jwt|token|tokens|password|secret|apikey|api_key|api-key|credential|credentials|eof|identifier|keyword|literal|operator|punctuation|comment|whitespace|await|new|async|self|this|return|typeof)[,;.]?$/i;

/** `password=user_password`, `token: GITHUB_TOKEN`: the value is the name of the thing. */
function namesTheSame(name: string, value: string): boolean {
  if (!/^[A-Za-z_$][\w$]*[,;]?$/.test(value)) return false;
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) && nameStrength(value) !== "none") return true;
  const last = wordsOf(value).at(-1);
  return last !== undefined && !/\d/.test(value) && last === wordsOf(name).at(-1);
}

function looksRandom(value: string, minChars: number): boolean {
  if (value.length < minChars || /[\s(){}<>]/.test(value)) return false;
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

function isExpression(value: string): boolean {
  if (
    /^[A-Za-z_$][\w$.?]*[([]/.test(value) ||
    /^(?:this|self|req|request|config|ctx|opts|options|args|params|props)\./.test(value)
  ) {
    return true;
  }
  return /^[A-Za-z_$]+(?:\??\.[A-Za-z_$]+)+[,;]?$/.test(value) || /^[([{!&|=<>]/.test(value);
}

// ── Values ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Deeper than any record we write, shallow enough for every stack. */
const MAX_DEPTH = 500;

interface Walk {
  readonly depth: number;
  readonly ancestors: Set<object>;
  /** The nearest property name; array items inherit the name of their array. */
  readonly name?: string;
}

function walk(value: unknown, at: Walk): unknown {
  if (typeof value === "string") return redactNamedString(at.name, value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date || ArrayBuffer.isView(value)) return value;
  if (at.depth >= MAX_DEPTH) return marker("too-deep");
  if (at.ancestors.has(value)) return marker("cycle");
  at.ancestors.add(value);
  const walked = Array.isArray(value) ? walkArray(value, at) : walkObject(value, at);
  at.ancestors.delete(value);
  return walked;
}

function walkArray(items: readonly unknown[], at: Walk): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = walk(items[index], { ...at, depth: at.depth + 1 });
    if (item !== items[index] && !Number.isNaN(item)) {
      copy ??= items.slice();
      copy[index] = item;
    }
  }
  return copy ?? items;
}

function walkObject(source: object, at: Walk): unknown {
  // What will be written is what `toJSON` says (a URL keeps its password there), so that is what must be clean.
  const { toJSON } = source as { toJSON?: unknown };
  if (typeof toJSON === "function") {
    const json: unknown = toJSON.call(source);
    const clean = walk(json, { ...at, depth: at.depth + 1 });
    return clean === json ? source : clean;
  }
  const entries = Object.entries(source);
  let changed = false;
  const clean = entries.map(([key, item]): [string, unknown] => {
    const cleanKey = redact(key);
    const cleanItem = walk(item, { depth: at.depth + 1, ancestors: at.ancestors, name: key });
    if (cleanKey !== key || (cleanItem !== item && !Number.isNaN(item))) changed = true;
    return [cleanKey, cleanItem];
  });
  return changed ? Object.fromEntries(withDistinctKeys(clean)) : source;
}

/** Two secrets of one kind used as keys must not swallow each other's values. */
function withDistinctKeys(entries: [string, unknown][]): [string, unknown][] {
  const seen = new Map<string, number>();
  return entries.map(([key, item]) => {
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return [times === 1 ? key : `${key}#${times}`, item];
  });
}

const HEADER_NAMES = /^(?:proxy-?)?authorization$|^(?:set-?)?cookies?$|^x-(?:api-key|auth-token|amz-security-token)$/i;

function redactNamedString(name: string | undefined, value: string): string {
  const clean = redact(value);
  if (name === undefined || isMarker(clean)) return clean;
  const bare = value.replace(/^(?:bearer|basic|token|digest)\s+/i, "");
  const secret = HEADER_NAMES.test(name)
    ? bare !== "" && !isMarker(bare) && !isStandIn(bare) && !COMMON_WORDS.test(bare)
    : isCredential(name, value, "data");
  return secret && !/^\w+ \[redacted:[a-z0-9-]+\]$/.test(clean) ? marker("credential") : clean;
}
