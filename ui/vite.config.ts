// Build and development server. The page is served from the root of the Hotseat server, so asset paths are absolute
// and deep links work. `npm run dev` passes /api on to a running server: HOTSEAT_URL, default the usual port.
import react from "@vitejs/plugin-react";
import { loadEnv } from "vite";
import { defineConfig } from "vitest/config";

export default defineConfig(({ mode }) => {
  const target = loadEnv(mode, ".", "HOTSEAT_").HOTSEAT_URL ?? "http://127.0.0.1:4687";
  return {
    plugins: [react()],
    build: {
      target: "es2022",
      chunkSizeWarningLimit: 650,
      rolldownOptions: { input: ["index.html", "docs/index.html"] },
    },
    server: { proxy: { "/api": { target, changeOrigin: true } } },
    test: { environment: "node", include: ["src/**/*.test.ts"] },
  };
});
