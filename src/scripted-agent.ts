/** Entry of the scripted agent's bundle; the program itself is runtimes/script/agent.ts. */
import "#runtimes/script/agent.ts";
