import { describe, expect, it } from "vitest";
import type { Me, Room, Turn } from "../api/types";
import { claimOn, NOBODY, others, typingWords } from "./room";

const ada: Me = { name: "ada", role: "developer" };
const room = (change: Partial<Room>): Room => ({ ...NOBODY, ...change });
const claim = (turn_id: string, holder: string) => ({ turn_id, holder, since: "", until: "" });

describe("a room", () => {
  it("names those who type, but not oneself", () => {
    expect(typingWords(null, ada)).toBe("");
    expect(typingWords(room({ typing: ["ada"] }), ada)).toBe("");
    expect(typingWords(room({ typing: ["ada", "bob"] }), ada)).toBe("bob is typing …");
    expect(typingWords(room({ typing: ["bob", "eve"] }), ada)).toBe("bob and eve are typing …");
    expect(typingWords(room({ typing: ["bob", "eve", "kim"] }), ada)).toBe("3 people are typing …");
  });

  it("knows who else is there", () => {
    expect(others(room({ present: ["ada", "bob"] }), ada)).toEqual(["bob"]);
    expect(others(null, ada)).toEqual([]);
  });

  it("believes the stream before what came with the turn", () => {
    const turn = { turn_id: "t", claim: claim("t", "bob") } as unknown as Turn;
    expect(claimOn(turn, null)?.holder).toBe("bob");
    expect(claimOn(turn, NOBODY)).toBeNull();
    expect(claimOn(turn, room({ claims: [claim("u", "eve"), claim("t", "kim")] }))?.holder).toBe("kim");
  });
});
