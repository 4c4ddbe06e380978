/**
 * Words that people bring from other programs. Where one means the same as a command of ours, it leads there; where it does
 * not, it names the command with an example, because a guess that does something else is worse than a sentence. A word of the
 * menu is never looked up here. Loaded only for a word that is no command.
 */

export type Synonym =
  /** The command it stands for; `alone` where no other word but options follows. */
  | { readonly as: readonly string[]; readonly alone?: readonly string[] }
  /** What to run instead. */
  | { readonly instead: string };

const as = (line: string, alone?: string): Synonym => ({
  as: line.split(" "),
  ...(alone === undefined ? {} : { alone: alone.split(" ") }),
});
const instead = (sentence: string): Synonym => ({ instead: sentence });

const START = `'overseer sling --prompt "…"' starts an agent, 'overseer up' the daemon.`;
const GIVE = `'overseer do "Fix the date parser"' plans it and sees it landed; 'overseer sling --prompt "…"' starts one agent.`;
const MAKE = `'overseer do "…"' has it done, 'overseer goal create "…"' only records a goal.`;
const LISTS = "'overseer status' shows everything, 'overseer agents' agents, 'overseer work list' tasks.";
const SHOWS = "'overseer why <id>' explains anything, 'overseer review <agent>' shows its change.";
const ENDS =
  "'overseer stop <agent>' ends an agent, 'overseer work cancel <task>' a task, 'overseer goal cancel <goal>' a goal.";
const REMOVES = "'overseer goal cancel <goal>' ends a goal, 'overseer worktree clean <agent>' removes a worktree.";
const WRITES = `'overseer nudge <agent> "…"' is a short note, 'overseer mail send --to <agent> …' a letter.`;
const DAEMON = "'overseer up' starts the daemon, 'overseer down' stops it, 'overseer status' shows it.";

/** What a word that is no command of the program stands for, by the word in small letters. */
export const SYNONYMS: ReadonlyMap<string, Synonym> = new Map(
  Object.entries<Synonym>({
    ps: as("agents"),
    agent: as("agents show", "agents"),
    goals: as("goal", "goal list"),
    tasks: as("work", "work list"),
    task: as("work show", "work list"),
    nodes: as("work", "work list"),
    todo: as("work list"),
    backlog: as("work list"),
    question: as("questions"),
    worktrees: as("worktree", "worktree list"),
    logs: as("peek", "events"),
    tail: as("peek --follow", "events --follow"),
    follow: as("goal follow", "do"),
    history: as("events"),
    journal: as("events"),
    approve: as("accept"),
    land: as("accept"),
    diff: as("review"),
    deny: as("reject"),
    decline: as("reject"),
    take: as("pick"),
    explain: as("why"),
    open: as("attach"),
    connect: as("attach"),
    ui: as("status --watch"),
    tui: as("status --watch"),
    top: as("status --watch"),
    live: as("status --watch"),
    dashboard: as("status --watch"),
    st: as("status"),
    state: as("status"),
    info: as("status"),
    overview: as("status"),
    queue: as("merge"),
    inbox: as("mail check"),
    ack: as("questions ack"),
    setup: as("init"),
    settings: as("config show"),
    cfg: as("config"),
    configure: as("config"),
    unfreeze: as("thaw"),
    unpause: as("resume"),
    continue: as("resume"),
    costs: as("metrics"),
    cost: as("metrics"),
    usage: as("metrics"),
    statistics: as("stats"),
    diagnose: as("doctor"),
    backup: as("store backup"),
    version: as("--version"),
    man: as("help"),
    "?": as("help"),
    "/?": as("help"),
    ls: instead(LISTS),
    list: instead(LISTS),
    dir: instead(LISTS),
    show: instead(SHOWS),
    view: instead(SHOWS),
    get: instead(SHOWS),
    cat: instead(SHOWS),
    inspect: instead(SHOWS),
    describe: instead(SHOWS),
    run: instead(GIVE),
    exec: instead(GIVE),
    prompt: instead(GIVE),
    begin: instead(START),
    start: instead(START),
    launch: instead(START),
    spawn: instead(START),
    assign: instead("'overseer sling <task>' starts an agent on a task of a plan."),
    kill: instead("'overseer stop <agent>' stops an agent and keeps what it has not committed."),
    cancel: instead(ENDS),
    abort: instead(ENDS),
    end: instead(ENDS),
    rm: instead(REMOVES),
    remove: instead(REMOVES),
    delete: instead(REMOVES),
    del: instead(REMOVES),
    clean: instead("'overseer worktree clean --completed' removes the worktrees of ended agents."),
    prune: instead("'overseer worktree clean --completed' removes the worktrees of ended agents."),
    restore: instead("'overseer worktree restore' lists kept work; 'overseer store import' brings a store back."),
    add: instead(MAKE),
    new: instead(MAKE),
    create: instead(MAKE),
    plan: instead(
      `'overseer do "…" --dry-run' shows a plan; 'overseer goal create --plan plan.yaml' records one of yours.`,
    ),
    budget: instead("'overseer goal budget <goal> --usd 20' raises a goal's, 'overseer work budget <task>' a task's."),
    tell: instead(WRITES),
    say: instead(WRITES),
    send: instead(WRITES),
    message: instead(WRITES),
    msg: instead(WRITES),
    reply: instead("'overseer answer <number> …' answers a question, 'overseer mail reply <id>' a letter."),
    retry: instead(
      "'overseer restart <agent>' continues an agent, 'overseer work unblock <task>' dispatches a task again.",
    ),
    undo: instead("'git revert' takes a landed commit back; 'overseer reject <agent>' sends back what has not landed."),
    checkout: instead("'overseer pick <agent>' makes an agent's branch and worktree yours."),
    daemon: instead(DAEMON),
    serve: instead(DAEMON),
    server: instead(DAEMON),
    shutdown: instead(DAEMON),
    halt: instead(DAEMON),
    quit: instead(DAEMON),
    exit: instead(DAEMON),
    reload: instead("Nothing to do: a running daemon reads a changed configuration at its next tick."),
    install: instead("'overseer init' sets a repository up; the program itself is installed with npm."),
    upgrade: instead("The program is updated with npm; 'overseer doctor' then checks the store."),
    update: instead("The program is updated with npm; 'overseer doctor' then checks the store."),
    check: instead("'overseer doctor' checks the machine, 'overseer review <agent>' shows what the checks said."),
    set: instead("'overseer config set <key> <value>' changes a setting."),
    test: instead(
      "'overseer review <agent>' shows what the checks said; 'overseer config set checks.tests …' adds one.",
    ),
    login: instead("Overseer has no accounts: agents use the login of their own CLI, such as 'claude login'."),
  }),
);

/** Below a group: the same word in every one of them. */
const BELOW: Readonly<Record<string, { readonly to: string; readonly same: boolean }>> = {
  ls: { to: "list", same: true },
  ps: { to: "list", same: true },
  all: { to: "list", same: true },
  view: { to: "show", same: true },
  info: { to: "show", same: true },
  inspect: { to: "show", same: true },
  describe: { to: "show", same: true },
  cat: { to: "show", same: true },
  new: { to: "create", same: true },
  add: { to: "create", same: true },
  finish: { to: "done", same: true },
  complete: { to: "done", same: true },
  rm: { to: "cancel", same: false },
  remove: { to: "cancel", same: false },
  delete: { to: "cancel", same: false },
  stop: { to: "cancel", same: false },
  kill: { to: "cancel", same: false },
  prune: { to: "clean", same: false },
  write: { to: "send", same: false },
  answer: { to: "reply", same: false },
  save: { to: "backup", same: false },
  load: { to: "import", same: false },
};

/** The command of a group that a word stands for, where the group has it. */
export function synonymBelow(
  word: string,
  offered: readonly string[],
): { readonly to: string; readonly same: boolean } | undefined {
  const plain = word.toLowerCase();
  const found = Object.hasOwn(BELOW, plain) ? BELOW[plain] : undefined;
  return found && offered.includes(found.to) ? found : undefined;
}
