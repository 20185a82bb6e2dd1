// The smallest front end: it shows the messages of a thread as they grow, and sends what the user types. Where the
// agent is and the token for it are in the address.
import { HttpAgent } from "@ag-ui/client";

const wish = new URLSearchParams(location.search);
const agent = new HttpAgent({
  url: wish.get("url") ?? "",
  headers: { authorization: `Bearer ${wish.get("token")}` },
  threadId: "shop-window",
});

agent.subscribe({
  onMessagesChanged: ({ messages }) => {
    const lines = messages.map((message) => {
      const line = document.createElement("li");
      const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
      const content = typeof message.content === "string" ? message.content : "";
      line.textContent = `${message.role}: ${content}${calls.map((call) => `${call.function.name} is called`).join()}`;
      return line;
    });
    document.getElementById("messages")?.replaceChildren(...lines);
  },
});

document.querySelector("form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = document.querySelector("input");
  const status = document.getElementById("status");
  if (!input || !status) return;
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: input.value });
  input.value = "";
  status.textContent = "waiting";
  try {
    await agent.runAgent();
    status.textContent = "ready";
  } catch (error) {
    status.textContent = `failed: ${error}`;
  }
});
