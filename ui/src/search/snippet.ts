// A piece of text with what was found in it. The server marks the places with two control characters; here they become
// pieces, so that nothing that was said is ever read as HTML.

const OPEN = "\u0002";
const CLOSE = "\u0003";

export interface Piece {
  text: string;
  hit: boolean;
}

export function pieces(snippet: string): Piece[] {
  const found: Piece[] = [];
  const add = (text: string, hit: boolean) => {
    const plain = text.replaceAll(OPEN, "").replaceAll(CLOSE, "").replaceAll(/\s+/g, " ");
    if (plain !== "") found.push({ text: plain, hit });
  };
  let from = 0;
  for (let open = snippet.indexOf(OPEN); open >= 0; open = snippet.indexOf(OPEN, from)) {
    const close = snippet.indexOf(CLOSE, open);
    const end = close < 0 ? snippet.length : close;
    add(snippet.slice(from, open), false);
    add(snippet.slice(open + 1, end), true);
    from = Math.min(end + 1, snippet.length);
  }
  add(snippet.slice(from), false);
  return found;
}

export function entryPath(found: { session_id: string; seq: number }): string {
  return `/sessions/${encodeURIComponent(found.session_id)}#${found.seq}`;
}
