import { pieces } from "./snippet";

export function Snippet({ text }: { text: string }) {
  return (
    <>
      {pieces(text).map(({ text: piece, hit }, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity but their place.
        hit ? <mark key={index}>{piece}</mark> : <span key={index}>{piece}</span>,
      )}
    </>
  );
}
