import { describe, expect, it } from "vitest";
import type { InputRequest, JsonObject } from "../api/types";
import {
  askHint,
  askedCall,
  credentialKind,
  emptyAnswer,
  isAnswered,
  responseWords,
  signInLink,
  toResponse,
} from "./ask";

const ask = (request: InputRequest["request"], args: JsonObject): InputRequest => ({
  type: "input_request",
  seq: 1,
  timestamp: "",
  request,
  call_id: "adk-1",
  name: `adk_request_${request}`,
  arguments: args,
});

describe("a confirmation", () => {
  const asked = ask("confirmation", {
    originalFunctionCall: { id: "adk-0", name: "refund", args: { order: 7 } },
    toolConfirmation: { hint: "Refund 7?", confirmed: false },
  });

  it("says what it is about, in either spelling", () => {
    expect(askHint(asked)).toBe("Refund 7?");
    expect(askedCall(asked)).toEqual({ name: "refund", args: { order: 7 } });
    expect(askedCall(ask("confirmation", { original_function_call: { name: "x" } }))).toEqual({ name: "x", args: {} });
  });

  it("is answered with yes or no, and a payload only if there is one", () => {
    expect(isAnswered(asked, emptyAnswer)).toBe(false);
    expect(toResponse(asked, { ...emptyAnswer, confirmed: false })).toEqual({
      id: "adk-1",
      name: "adk_request_confirmation",
      response: { confirmed: false },
    });
    expect(toResponse(asked, { ...emptyAnswer, confirmed: true, payload: { days: 2 } }).response).toEqual({
      confirmed: true,
      payload: { days: 2 },
    });
    expect(responseWords(asked, { confirmed: true })).toBe("Approved");
  });
});

describe("a credential", () => {
  it("goes back in the auth config that ADK sent", () => {
    const asked = ask("credential", {
      functionCallId: "adk-0",
      authConfig: { authScheme: { type: "apiKey", in: "header", name: "x-key" }, credentialKey: "k" },
    });
    expect(credentialKind(asked)).toBe("apiKey");
    expect(toResponse(asked, { ...emptyAnswer, secret: "s3" }).response).toEqual({
      authScheme: { type: "apiKey", in: "header", name: "x-key" },
      credentialKey: "k",
      exchangedAuthCredential: { authType: "apiKey", apiKey: "s3" },
    });
  });

  it("of OAuth keeps what ADK made and adds where the sign-in led to", () => {
    const asked = ask("credential", {
      auth_config: {
        auth_scheme: { type: "oauth2" },
        exchanged_auth_credential: { auth_type: "oauth2", oauth2: { auth_uri: "https://id/?s=1", state: "1" } },
      },
    });
    expect(signInLink(asked)).toBe("https://id/?s=1");
    expect(toResponse(asked, { ...emptyAnswer, secret: "http://localhost/cb?code=5" }).response).toMatchObject({
      exchanged_auth_credential: {
        oauth2: { state: "1", auth_response_uri: "http://localhost/cb?code=5", redirect_uri: "http://localhost/cb" },
      },
    });
  });
});

describe("input", () => {
  it("is an object as it is, anything else wrapped", () => {
    const asked = ask("input", { message: "How many?" });
    expect(toResponse(asked, { ...emptyAnswer, payload: "three" }).response).toEqual({ result: "three" });
    expect(toResponse(asked, { ...emptyAnswer, payload: { n: 3 } }).response).toEqual({ n: 3 });
  });
});
