// The few icons of the page, drawn as lines in the colour of their text. They are decoration: words carry the meaning.
import type { ReactNode } from "react";

function Icon({ children, size = 18 }: { children: ReactNode; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const List = () => (
  <Icon>
    <path d="M4 6h16M4 12h16M4 18h10" />
  </Icon>
);
export const Agents = () => (
  <Icon>
    <circle cx="12" cy="12" r="8.5" />
    <circle cx="12" cy="12" r="3" />
  </Icon>
);
export const Half = () => (
  <Icon>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 3.5a8.5 8.5 0 0 1 0 17z" fill="currentColor" stroke="none" />
  </Icon>
);
export const Sun = () => (
  <Icon>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4" />
  </Icon>
);
export const Moon = () => (
  <Icon>
    <path d="M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z" />
  </Icon>
);
export const Question = () => (
  <Icon>
    <path d="M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.01" />
  </Icon>
);
export const Cross = () => (
  <Icon size={13}>
    <path d="M6 6l12 12M18 6L6 18" />
  </Icon>
);
export const Plus = () => (
  <Icon size={14}>
    <path d="M12 5v14M5 12h14" />
  </Icon>
);
export const Fold = () => (
  <Icon size={15}>
    <path d="M14 6l-6 6 6 6" />
  </Icon>
);
export const Unfold = () => (
  <Icon size={15}>
    <path d="M10 6l6 6-6 6" />
  </Icon>
);
export const Dots = () => (
  <Icon size={16}>
    <path d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth="3" />
  </Icon>
);
export const Up = () => (
  <Icon size={13}>
    <path d="M6 15l6-6 6 6" />
  </Icon>
);
export const Down = () => (
  <Icon size={13}>
    <path d="M6 9l6 6 6-6" />
  </Icon>
);
export const Back = () => (
  <Icon size={14}>
    <path d="M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6v1" />
  </Icon>
);
export const Chain = () => (
  <Icon size={14}>
    <path d="M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.6-5.8l-1.4 1.3M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.6 5.8l1.4-1.3" />
  </Icon>
);
export const Play = () => (
  <Icon size={15}>
    <path d="M8 5l11 7-11 7z" fill="currentColor" stroke="none" />
  </Icon>
);
export const Pause = () => (
  <Icon size={15}>
    <path d="M8 5v14M16 5v14" strokeWidth="3.5" />
  </Icon>
);
export const StepBack = () => (
  <Icon size={14}>
    <path d="M18 5l-9 7 9 7zM6 5v14" />
  </Icon>
);
export const StepOn = () => (
  <Icon size={14}>
    <path d="M6 5l9 7-9 7zM18 5v14" />
  </Icon>
);
export const Search = () => (
  <Icon size={15}>
    <circle cx="11" cy="11" r="6.5" />
    <path d="M16 16l4.5 4.5" />
  </Icon>
);
export const FoldAll = () => (
  <Icon size={15}>
    <path d="M7 4l5 5 5-5M7 20l5-5 5 5" />
  </Icon>
);
export const UnfoldAll = () => (
  <Icon size={15}>
    <path d="M7 9l5-5 5 5M7 15l5 5 5-5" />
  </Icon>
);
export const Check = () => (
  <Icon>
    <path d="M5 12.5l4.5 4.5L19 7.5" />
  </Icon>
);
export const Bars = () => (
  <Icon>
    <path d="M5 20v-7M12 20V5M19 20v-11" />
  </Icon>
);
export const Warning = () => (
  <Icon size={14}>
    <path d="M12 4L2.8 19.5h18.4zM12 10v4.5M12 17.2v.01" />
  </Icon>
);
export const Gear = () => (
  <Icon>
    <circle cx="12" cy="12" r="3" />
    <path d="M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1" />
  </Icon>
);
