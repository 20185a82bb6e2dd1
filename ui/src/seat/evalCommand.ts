// The command that runs one exported case. `adk eval` wants the agent's folder, then the file and the case in it.

interface AgentPlace {
  app_name: string;
  /** The agent's own file, which lies in its folder unless the user said otherwise. */
  eval_set_path?: string | null;
}

export function evalCommand(trace: { path: string; eval_id: string }, agent: AgentPlace): string {
  return `adk eval ${shellWord(agentFolder(trace.path, agent))} ${shellWord(`${trace.path}:${trace.eval_id}`)}`;
}

/** The folder of a file that lies where the agent's folder is known to be; else the name is all that is known here. */
function agentFolder(path: string, { app_name: app, eval_set_path: own }: AgentPlace): string {
  const ownFolder = own && folderOf(own);
  if (ownFolder && (nameOf(ownFolder) === app || nameOf(own) === `${app}.evalset.json`)) return ownFolder;
  const folder = folderOf(path);
  return nameOf(folder) === app ? folder : app;
}

function folderOf(path: string): string {
  return path.split(/[\\/]/).length > 1 ? path.replace(/[\\/][^\\/]*$/, "") : "";
}

function nameOf(path: string): string {
  return path.split(/[\\/]/).pop() ?? "";
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
