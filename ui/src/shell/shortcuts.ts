// The keys of the page, for the help and the settings.
import { modKey } from "./keys";

export const SHORTCUTS: [string, string][] = [
  [`${modKey}K`, "find sessions, what was said, agents and actions"],
  ["1 · 2", "call a tool · send final response"],
  ["/", "search tools, or sessions"],
  [`${modKey}Enter`, "send what is in the seat"],
  ["j · k", "next · previous entry"],
  ["p", "to the end, where a request waits"],
  [`${modKey}F`, "search in the session"],
  ["g s · g a · g e · g t", "sessions · agents · eval sets · stats"],
  ["Esc", "back out of a field or a dialogue"],
  ["?", "these keys"],
];
