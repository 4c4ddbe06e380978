/**
 * Typical mistakes, as people make them: the line they type, the situation they are in, the exit code (src/errors.ts), and what
 * the one sentence and the next step must hold. Run by test/e2e/mistakes.test.ts with the real program.
 *
 * Words in a line are split at spaces, "…" keeps them together. $G is the goal of the world, $Q an open question, $A one that is answered, $P a directory with
 * files that are no plans, $Z a file that is not there.
 */

export type Situation = "none" | "bare" | "unborn" | "fresh" | "ready" | "config" | "fleet";

export interface Mistake {
  readonly where: Situation;
  readonly line: string;
  readonly code: number;
  readonly says: RegExp;
  readonly next: RegExp;
}

const at =
  (where: Situation) =>
  (line: string, code: number, says: RegExp, next: RegExp): Mistake => ({ where, line, code, says, next });

const none = at("none");
const bare = at("bare");
const unborn = at("unborn");
const fresh = at("fresh");
const ready = at("ready");
const config = at("config");
const fleet = at("fleet");

export const MISTAKES: readonly Mistake[] = [
  // commands
  none("Status", 2, /no command "Status"/, /overseer status/),
  none("STATUS", 2, /no command "STATUS"/, /overseer status/),
  none("statsu", 2, /no command "statsu"/, /overseer status/),
  none("goal craete x", 2, /goal has no command "craete"/, /goal create/),
  none("frobnicate", 2, /no command "frobnicate"/, /overseer --help/),
  none('""', 2, /empty word/, /overseer --help/),
  none('" "', 2, /empty word/, /overseer --help/),
  none("help frobnicate", 2, /no command "frobnicate"/, /overseer --help/),
  none("help goal frobnicate", 2, /goal has no command "frobnicate"/, /goal --help/),
  none("help kill", 2, /no command "kill"/, /overseer stop/),
  none("kill builder-1", 2, /no command "kill"/, /overseer stop <agent>/),
  none("run npm test", 2, /no command "run"/, /overseer sling --prompt/),
  none("start", 2, /no command "start"/, /overseer up/),
  none("ls", 2, /no command "ls"/, /overseer status/),
  none("list", 2, /no command "list"/, /overseer work list/),
  none("add task", 2, /no command "add"/, /goal create/),
  none("new", 2, /no command "new"/, /goal create/),
  none("rm builder-1", 2, /no command "rm"/, /worktree clean/),
  none("cancel T1", 2, /no command "cancel"/, /work cancel/),
  none("show T1", 2, /no command "show"/, /overseer why/),
  none("daemon", 2, /no command "daemon"/, /overseer up/),
  none("goal rm goal_X", 2, /no command "rm"/, /goal cancel/),
  none("agents builder-1", 2, /no command "builder-1"/, /agents show builder-1/),
  none("work T1", 2, /no command "T1"/, /work show T1/),
  // options and values
  none("--verison", 2, /no option --verison/, /--version/),
  none("-x", 2, /no option -x/, /--help/),
  none("status --jsno", 2, /no option --jsno/, /--json/),
  none("status --json=yes", 2, /--json is a switch/, /--json/),
  none("status extra", 2, /takes no arguments/, /status --help/),
  none("goal create --title", 2, /--title needs a value/, /--title/),
  none("goal create --title --json", 2, /--title needs a value/, /--title/),
  none("goal create a b c", 2, /"b" is one too many/, /quotes/),
  none("goal create x --title a --title b", 2, /--title was given twice/, /Keep the one/),
  none("goal create x --priority urgentest", 2, /not a value of --priority/, /urgent|Choose/),
  none("goal show", 2, /needs a <goal>/, /goal show --help/),
  none("work list --status opne", 2, /not a value of --status/, /Did you mean|Choose/),
  none("completions tcsh", 2, /not a value of <shell>/, /zsh|fish|bash|Choose/),
  none("-json status", 2, /no option -j/, /--json/),
  none("reject", 2, /needs a <what>/, /reject --help/),
  none("nudge", 2, /needs a <agent>/, /nudge --help/),
  none("config set agents.maxConcurrent", 2, /needs a <value>/, /config set --help/),
  none("watch", 2, /Which reports/, /status --watch/),
  none("watch --salute $Z --every 5x --once", 2, /5x/, /2s|5m/),
  // where
  none("status", 5, /not.*git repository|no git repository/i, /cd|git init|repository/),
  none("init", 5, /not.*git repository|no git repository/i, /cd|git init|repository/),
  none("sling --prompt x", 5, /not.*git repository|no git repository/i, /cd|git init|repository/),
  none("status --root $Z", 5, /there|exist|not/i, /root|directory/i),
  none("up", 5, /not.*git repository|no git repository/i, /cd|git init|repository/),
  bare("sling --prompt x", 5, /not set up here/, /overseer init/),
  unborn("init", 4, /no commits yet/, /git commit/),
  unborn("sling --prompt x", 5, /not set up here/, /overseer init/),
  fresh("status", 5, /not set up in this repository yet/, /overseer init/),
  fresh("sling --prompt x", 5, /not set up here/, /overseer init/),
  fresh("goal create x", 5, /not set up here/, /overseer init/),
  fresh("up", 5, /not set up here/, /overseer init/),
  fresh("config set agents.maxConcurrent 3", 4, /no configuration|There is no/, /overseer init/),
  // ids
  ready("goal cancel goal_", 2, /goal_ alone names none/, /goal list/),
  ready('goal cancel ""', 2, /No goal was named/, /goal list/),
  ready('goal show "  "', 2, /No goal was named/, /goal list/),
  ready("goal show goal_NOTHERE000", 3, /no goal goal_NOTHERE000/, /goal list/),
  ready("goal show nonsense", 3, /no goal nonsense/, /goal list/),
  ready("goal cancel $G/T1", 3, /no goal/, /goal list/),
  ready("work list --goal=", 2, /No goal was named/, /goal list/),
  ready("work show T", 3, /no work node T\b/, /work list/),
  ready("work show t1", 3, /no work node t1/, /T1/),
  ready("work show T99", 3, /no work node T99/, /work list/),
  ready("work cancel $G/T99", 3, /has no node T99/, /work list --goal/),
  ready('work cancel ""', 2, /No work node was named/, /work list/),
  ready("work show goal_/T1", 2, /goal_ alone names none/, /goal list/),
  ready("why nonsense", 3, /no goal, task, agent or question nonsense/, /overseer work list/),
  ready("why A_", 2, /A_ alone names none/, /work show/),
  ready("stop nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("stop", 2, /Name one agent, or say --all/, /overseer agents/),
  ready("peek nobody#4", 3, /no agent nobody#4/, /overseer agents/),
  ready("attach nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("restart nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("events --agent nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("mail check --agent nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("mail read m_", 2, /m_ alone names none/, /mail list/),
  ready("mail read m_NOPE", 3, /no message m_NOPE/, /mail list/),
  ready("mail send --to nobody --subject a --body b", 3, /no agent called nobody/, /agents/),
  ready("mail send --to builder-1 --body b", 2, /--subject is missing/, /mail send --to/),
  ready("accept M_NOPE", 3, /no landing M_NOPE/, /overseer merge/),
  ready("worktree clean nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("worktree clean", 2, /Nothing was named/, /--completed/),
  ready("worktree restore refs/overseer/wip/nope", 3, /nope/, /worktree restore|worktree list/),
  // questions
  ready("answer", 2, /needs a <question>/, /answer --help/),
  ready("answer q_", 2, /answer needs words|alone names none/i, /answer|questions/),
  ready("answer 99 yes", 3, /no question 99/, /questions|Open is/),
  ready("answer q_NOPE yes", 3, /no question q_NOPE/, /overseer questions/),
  ready("answer $Q", 2, /needs words.* asks: /s, /overseer answer/),
  ready('answer $Q "  "', 2, /needs words/, /overseer answer/),
  ready("answer $A again", 4, /answered already/, /overseer why/),
  ready("questions withdraw $A", 4, /answered already/, /overseer why/),
  ready("questions ack 77", 3, /no question 77/, /questions|Open is/),
  // work and landing
  ready("accept $G/T1", 4, /no finished work/, /overseer review/),
  ready('reject $G/T1 --reason "redo"', 4, /no finished work/, /overseer review/),
  ready("pick $G/T1", 4, /no finished work/, /overseer review/),
  ready("work done $G/T1", 2, /summary|evidence/i, /--summary/),
  ready("work block $G/T1", 2, /reason/i, /--reason/),
  ready("merge --branch nope", 3, /nope/, /branch/),
  ready("merge --branch nope --all", 2, /exclude each other/, /Leave one out/),
  ready("work budget $G/T1 --cost 0", 2, /./, /./),
  ready("work budget $G/T1 --tokens lots", 2, /lots/, /2M|--tokens/),
  ready("work budget $G/T1", 2, /how much|nothing|raise/i, /--usd|--tokens/),
  ready("report --since tomorrow", 2, /tomorrow/, /--since/),
  ready("events --limit many", 2, /whole number, not "many"/, /--limit 20/),
  ready("events --limit=-5", 2, /whole number, not "-5"/, /--limit 20/),
  ready("events --limit -5", 2, /--limit needs a value/, /--limit=-5/),
  ready("peek nobody --lines x", 2, /whole number, not "x"|no agent called/, /--lines 20|agents/),
  // asked for what is so already: said, not refused
  fresh("down", 0, /No daemon was running/, /^/),
  ready("down", 0, /No daemon was running/, /^/),
  ready("thaw", 0, /was not frozen/, /^/),
  ready("worktree clean --completed", 0, /Nothing to clean/, /^/),
  ready("merge --all", 0, /Nothing is finished/, /^/),
  ready("events --type nonsense", 2, /No event is of the type nonsense/, /docs\/events.md/),
  ready("events --type work.dnoe", 2, /No event is of the type work.dnoe/, /Did you mean work.done/),
  ready("events -n 5", 2, /no option -n/, /events --help/),
  ready("mail check --timeout soon", 2, /whole number, not "soon"/, /--timeout 20/),
  ready("questions show 1", 2, /no command "show"/, /questions --help/),
  ready("store import $Z", 3, /There is no file/, /path of the file/),
  ready("report --since 5x", 2, /"5x" is no span of time/, /--since 12h/),
  ready("prime nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("wrong 99999", 3, /no steering 99999/, /events --type agent.steered/),
  ready("ask hello", 2, /not an agent/, /work done/),
  ready("review nope", 3, /no agent or task nope/, /overseer agents --all/),
  // sling
  ready("sling", 2, /Nothing to do was named/, /--prompt/),
  ready('sling --prompt ""', 2, /prompt|empty|words/i, /--prompt/),
  ready('sling --prompt "   "', 2, /prompt|empty|words/i, /--prompt/),
  ready("sling T1 --prompt x", 2, /only one of them can be meant/, /--prompt/),
  ready('sling "Fix it"', 3, /no work node Fix it/, /sling --prompt "Fix it"/),
  ready("sling T99", 3, /no work node T99/, /work list/),
  ready("sling --prompt x --capability wizard", 3, /wizard/, /builder|role/),
  ready("sling --prompt x --runtime emacs", 3, /emacs/, /claude-code|scripted/),
  ready("sling --prompt x --name Bad_Name", 2, /Bad_Name/, /lowercase letters/),
  ready("sling --prompt x --base nope", 3, /nope/, /branch/),
  ready("sling --prompt x --parent nobody", 3, /no agent called nobody/, /overseer agents/),
  ready("sling --prompt x --depth 7", 2, /--depth/, /0|leave/i),
  // plans
  ready("goal plan $G --file $Z", 3, /There is no file/, /path of the file/),
  ready("goal plan $G --file $P", 5, /is a directory|[Dd]irectories/, /path of the file/),
  ready("goal plan $G --file $P/binary.yaml", 2, /./, /./),
  ready("goal plan $G --file $P/empty.yaml", 2, /empty|no |nothing/i, /./),
  ready("goal plan $G --file $P/tabs.yaml", 2, /./, /./),
  ready("goal plan $G --file $P/twice.yaml", 2, /T1/, /./),
  ready("goal plan $G --file $P/cycle.yaml", 2, /T1|T2/, /./),
  ready("goal plan $G --file $P/unknown.yaml", 2, /objektive|unknown/, /./),
  ready("goal plan $G --file $P/list.yaml", 2, /./, /./),
  ready("goal plan $G --file $P/huge.yaml", 2, /large|long|big|many|bytes|KB|MB/i, /./),
  ready("goal create x --plan $Z", 3, /There is no file/, /path of the file/),
  ready('goal create ""', 2, /title/i, /title/i),
  ready('goal create "   "', 2, /title/i, /title/i),
  ready("goal plan $G", 2, /./, /--file/),
  // configuration
  ready("config get agents.maxConcurent", 3, /Did you mean agents.maxConcurrent/, /config explain/),
  ready("config explain nonsense", 3, /nonsense is not a key/, /config explain/),
  ready("config set agents.maxConcurrent many", 2, /whole number, not "many"/, /at least 1/),
  ready("config set agents.maxConcurrent=8 x", 3, /not a key/, /config explain/),
  ready("config set checks.tests.on land", 2, /list/, /'\[done, land\]'/),
  ready("config set guard 5", 2, /group of keys/, /guard\./),
  ready("config set reconcile.tickEvery 5x", 2, /duration/, /2m/),
  ready("config set agents.maxConcurrent -1", 2, /no option -1|at least 1/, /--/),
  ready("config edit", 5, /No editor is set/, /EDITOR=/),
  config("sling --prompt x", 6, /config\.yaml:\d+:\d+: agnets is not a key/, /overseer config explain/),
  config(
    "config set agents.maxConcurrent 3",
    6,
    /config\.yaml:\d+:\d+: agnets is not a key/,
    /overseer config explain/,
  ),
  // a fleet at work
  fleet("restart builder-1#99", 3, /no agent builder-1#99/, /builder-1#\d/),
  fleet("stop buidler-1", 3, /no agent called buidler-1/, /Did you mean builder-1/),
  fleet("stop builder-", 3, /no agent called builder-/, /Did you mean builder-1/),
  fleet("accept builder-1", 4, /no finished work/, /overseer review/),
  fleet("reject builder-1", 4, /no finished work|reason/, /review|--reason/),
  fleet("resume builder-1", 4, /running|not paused|paused/, /./),
  fleet("worktree clean builder-1", 4, /not removed|lives|at work/, /./),
  fleet("sling --prompt again --name builder-1", 4, /builder-1/, /./),
  fleet("attach builder-1", 4, /without a terminal/, /peek --follow/),
  fleet("nudge builder-1", 2, /needs a <text>/, /nudge --help/),
  fleet('nudge builder-1 " "', 2, /empty|text|words/i, /./),
  fleet("wrong builder-1", 3, /no steering/, /events/),
  fleet("review builder-99", 3, /no agent or task builder-99/, /overseer agents/),
];
