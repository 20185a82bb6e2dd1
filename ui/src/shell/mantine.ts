// Mantine dressed in Hotseat's variables. Its own palette is not used: colours come from theme.css, so that light and
// dark change in one place.
import { type CSSVariablesResolver, createTheme } from "@mantine/core";

export const theme = createTheme({
  fontFamily: '"Inter Variable", Inter, system-ui, sans-serif',
  fontFamilyMonospace: '"JetBrains Mono", ui-monospace, Menlo, Consolas, monospace',
  fontSizes: { sm: "13.5px", xs: "12.5px" },
  defaultRadius: 7,
  primaryColor: "gray",
  cursorType: "pointer",
  focusRing: "auto",
  components: {
    TextInput: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    NativeSelect: { defaultProps: { size: "xs" } },
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Tooltip: { defaultProps: { openDelay: 300, fz: 12, withinPortal: true } },
  },
});

export const variables: CSSVariablesResolver = () => {
  const shared = {
    "--mantine-color-body": "var(--bg)",
    "--mantine-color-text": "var(--ink)",
    "--mantine-color-dimmed": "var(--mute)",
    "--mantine-color-placeholder": "var(--mute)",
    "--mantine-color-error": "var(--red)",
    "--mantine-color-default": "var(--panel)",
    "--mantine-color-default-hover": "var(--soft)",
    "--mantine-color-default-color": "var(--ink)",
    "--mantine-color-default-border": "var(--line)",
    "--mantine-primary-color-filled": "var(--blue)",
    "--mantine-line-height": "1.5",
  };
  return { variables: {}, light: shared, dark: shared };
};
