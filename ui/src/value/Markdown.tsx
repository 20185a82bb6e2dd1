// Markdown from tools and people, drawn without trusting it: HTML is shown as text, links open elsewhere without a
// referrer, and pictures become links, since loading one would tell its server that someone looked.
import { Markdown as Renderer } from "markdown-to-jsx/react";
import type { ReactNode } from "react";

export default function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <Renderer options={{ disableParsingRawHTML: true, forceBlock: true, overrides: { a: Link, img: Picture } }}>
        {text}
      </Renderer>
    </div>
  );
}

function Link({ href, children }: { href?: string; children?: ReactNode }) {
  if (!href || !/^(https?:|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

function Picture({ src, alt }: { src?: string; alt?: string }) {
  return <Link href={src}>{alt || "picture"}</Link>;
}
