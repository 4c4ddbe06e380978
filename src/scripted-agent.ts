/** Entry of the scripted agent's bundle; the program itself is runtimes/scripted/agent.ts. */
import "#runtimes/scripted/agent.ts";
