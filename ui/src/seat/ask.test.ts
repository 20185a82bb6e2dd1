import { describe, expect, it } from "vitest";
import type { InputRequest, JsonObject } from "../api/types";
import {
  answerProblem,
  askHint,
  askWords,
  askedCall,
  credentialKind,
  emptyAnswer,
  responseWords,
  signInLink,
  startAnswer,
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
    expect(askWords(asked, null)).toBe("refund asks whether it may run with order: 7.");
    expect(askHint(asked)).toBe("Refund 7?");
    expect(askedCall(asked)).toEqual({ name: "refund", args: { order: 7 } });
    expect(askedCall(ask("confirmation", { original_function_call: { name: "x" } }))).toEqual({ name: "x", args: {} });
  });

  it("does not repeat what ADK tells programs", () => {
    const hint =
      "Please approve or reject the tool call pay() by responding with a FunctionResponse with an expected ToolConfirmation payload.";
    expect(askHint(ask("confirmation", { toolConfirmation: { hint } }))).toBe("");
  });

  it("is answered with yes or no, and a payload only if there is one", () => {
    expect(answerProblem(asked, emptyAnswer)).toContain("Approve or reject");
    expect(answerProblem(asked, { ...emptyAnswer, confirmed: false })).toBeNull();
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
    expect(askWords(asked, "open_vault")).toBe("open_vault needs a credential.");
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

  it("has to fit its schema, and may fit it as it is", () => {
    const schema = (required: string[]) => ({ type: "object", properties: { n: { type: "integer" } }, required });
    const asked = ask("input", { response_schema: schema(["n"]) });
    expect(answerProblem(asked, startAnswer(asked))).toContain("another look");
    expect(answerProblem(asked, { ...emptyAnswer, payload: { n: "many" } })).toContain("another look");
    expect(answerProblem(asked, { ...emptyAnswer, payload: { n: 7 } })).toBeNull();
    const free = ask("input", { response_schema: schema([]) });
    expect(answerProblem(free, startAnswer(free))).toBeNull();
  });
});
