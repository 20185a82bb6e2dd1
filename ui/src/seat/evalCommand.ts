// The command that runs one exported case. `adk eval` wants the agent's folder, then the file and the case in it.

export function evalCommand(trace: { path: string; eval_id: string }, appName: string): string {
  return `adk eval ${shellWord(agentFolder(trace.path, appName))} ${shellWord(`${trace.path}:${trace.eval_id}`)}`;
}

/** The file usually lies in the agent's folder, which has the app's name; else the name is all that is known here. */
function agentFolder(path: string, appName: string): string {
  const folders = path.split("/").slice(0, -1);
  return folders[folders.length - 1] === appName ? folders.join("/") : appName;
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
