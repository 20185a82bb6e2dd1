// Generated from docs/openapi.json by `npm run types`. Do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptedView: {
            run_id: string;
            /** Format: int64 */
            seq: number;
        };
        /** @description A session as ADK writes it. */
        AdkSessionView: {
            appName: string;
            events: Record<string, unknown>[];
            id: string;
            /** Format: double */
            lastUpdateTime: number;
            state: Record<string, unknown>;
            userId: string;
        };
        /** @description Something that can be run. */
        Agent: {
            /** @description ADK's application name. */
            app_name: string;
            /** @description Whoever hosts it is connected. */
            connected: boolean;
            /** @description What it is for, in its author's words. */
            description: string;
            /** @description Where its golden traces go. */
            eval_set_path?: string | null;
            /** @description JSON Schema of its input. */
            input_schema?: Record<string, unknown> | null;
            /** @description Its instruction, before state is filled in. */
            instruction: string;
            /** @description The model it would use. */
            model: string;
            /** @description The name it is chosen by. */
            name: string;
            /** @description JSON Schema of its output. */
            output_schema?: Record<string, unknown> | null;
            /** @description The name that its first agent has in events. ADK's agents are chosen by their folder. */
            root_name?: string;
            /** @description Where its code runs: `adk` is a worker, `native` is the server itself. */
            runtime: string;
            /** @description Who answers for its model, where it says so itself. */
            seat?: string | null;
            /** @description Names of the agents below it. */
            sub_agents: string[];
            /** @description Its tools: `{name, description, parameters, kind, error?}`. */
            tools: Record<string, unknown>[];
        };
        /** @description The agents that are known, and what keeps others from being. */
        AgentList: {
            /** @description The agents, by name. */
            items: components["schemas"]["Agent"][];
            /** @description Always null: there is one page. */
            next_cursor?: string | null;
            /** @description What could not be loaded. */
            problems: components["schemas"]["LoadProblem"][];
        };
        /** @description A file that a tool has saved. */
        Artifact: {
            /** @description The media type of the newest version. */
            mime_type?: string | null;
            /** @description Its name. */
            name: string;
            /**
             * Format: int64
             * @description The size of the newest version, in bytes.
             */
            size?: number | null;
            /** @description Its versions, oldest first. */
            versions?: number[];
        };
        AuditView: {
            /** @description What they did, as in `turn.decided`. */
            action: string;
            /** @description The name of a user; `owner` for the installation's own token. */
            actor: string;
            at: string;
            detail: Record<string, unknown>;
            /** Format: int64 */
            seq: number;
            session_id?: string | null;
            /** @description To whom or what. */
            subject: string;
        };
        Backfilled: {
            /** @description How many events were made; 0 if the session has, or had, events of its own. */
            events: number;
        };
        BindingView: {
            /** @description As a bearer token it admits to this session, and to nothing else. */
            binding_token: string;
            /** @description For `x-csrf-token`, where a cookie says who the caller is. */
            csrf_token: string;
            /** @description When the binding ends, unless it is used before. */
            expires_at: string;
        };
        /** @description The fields of a form. */
        ChatForm: {
            /** @description Up to 10 files. */
            files: string[];
            /** @description 1 to 10,000 characters, not blank. */
            message: string;
            /**
             * @description Pages of a PDF or slides, such as `1-3,7`: of the file before this field, or of every
             *     file if it comes before them all.
             */
            pages?: string | null;
            /** @description ULID of the session to go on with. */
            session_id?: string | null;
            /** @description A sheet of a workbook, in the same way; once for each sheet. */
            sheets?: string[] | null;
        };
        ChatResponse: {
            /** @description The answer; may be empty. */
            content: string;
            /** Format: int64 */
            execution_time_ms: number;
            /** @description ULID. */
            message_id: string;
            /** @description ULID; send it with the next message. */
            session_id: string;
            tokens_used?: components["schemas"]["TokenUsage"] | null;
            tool_calls: components["schemas"]["ToolCallInfo"][];
        };
        /** @description Who holds a turn. */
        ClaimView: {
            holder: string;
            since: string;
            turn_id: string;
            /** @description Until when, unless it is claimed again. */
            until: string;
        };
        /** @description Somebody who has claimed a turn. */
        Claimed: {
            holder: string;
            /** @description Until when, unless they claim it again. */
            until: string;
        };
        Cleanup: components["schemas"]["CleanupStatus"] & {
            removed: components["schemas"]["Removed"];
        };
        /** @enum {string} */
        CleanupState: "idle" | "running";
        /** @description How the clean-up is doing. */
        CleanupStatus: {
            /** @description When it last ended. */
            last_run_at?: string | null;
            /** @description When it is next due. */
            next_run_at?: string | null;
            /** @description `idle` or `running`. */
            state: components["schemas"]["CleanupState"];
        };
        Cleared: {
            /**
             * Format: int64
             * @description How many entries went.
             */
            removed: number;
        };
        /** @description A conversation with an agent. */
        Conversation: {
            created_at: string;
            /**
             * @description When something last happened in it; it is over 30 minutes after, unless the server
             *     was told otherwise.
             */
            last_activity: string;
            /**
             * Format: int64
             * @description What was said, by either side.
             */
            message_count: number;
            /** @description ULID. */
            session_id: string;
        };
        CsrfView: {
            csrf_token: string;
            expires_at: string;
        };
        DecidedView: {
            /** @description Ids of the function calls, in order. */
            call_ids: string[];
            event_id: string;
            /** Format: int64 */
            seq: number;
        };
        DismissBody: {
            /** @description What the agent is told. */
            reason?: string | null;
        };
        /** @description One run of `adk eval`. */
        EvalRun: {
            agent: string;
            /** @description For each case: `{eval_id, passed, metrics: [{name, score, threshold, passed}]}`. */
            cases: Record<string, unknown>[];
            ended_at?: string | null;
            eval_run_id: string;
            /** @description What `adk eval` printed. */
            output: string;
            /** @description The EvalSet file. */
            path: string;
            started_at: string;
            status: components["schemas"]["EvalStatus"];
        };
        /** @description What to run. */
        EvalRunWish: {
            /** @description The agent to run it with. */
            agent: string;
            /** @description ADK's criteria; its defaults if left out. */
            criteria?: Record<string, unknown> | null;
            /** @description Only these cases. */
            eval_ids?: string[] | null;
            /** @description The EvalSet file. */
            path: string;
        };
        /** @description A file with its cases. */
        EvalSetFile: {
            agent?: string | null;
            /** @description ADK EvalCases. */
            cases: Record<string, unknown>[];
            description?: string | null;
            eval_set_id: string;
            name?: string | null;
            path: string;
        };
        /** @description A file, without its cases. */
        EvalSetRow: {
            agent?: string | null;
            /** @description How many it has. */
            cases: number;
            /** @description Why it cannot be read. */
            error?: string | null;
            eval_set_id?: string | null;
            modified_at?: string | null;
            name?: string | null;
            path: string;
        };
        /**
         * @description How far a run got.
         * @enum {string}
         */
        EvalStatus: "running" | "passed" | "failed" | "error";
        /** @description What the raw events of a session are, in figures. */
        EventSummary: {
            /** @description By author. */
            authors: {
                [key: string]: number;
            };
            /** @description By `type`; plain ADK events have none. */
            event_types: {
                [key: string]: number;
            };
            /**
             * Format: double
             * @description The smallest time that an event tells, in seconds since 1970.
             */
            first_event_timestamp?: number | null;
            /**
             * Format: double
             * @description The largest.
             */
            last_event_timestamp?: number | null;
            /**
             * Format: int64
             * @description Raw events in the log.
             */
            total_events: number;
        };
        /** @description An event of the log. */
        EventView: {
            agent_name: string;
            author: string;
            branch?: string | null;
            /** @description With `view=history`: the history entries it adds. */
            entries?: Record<string, unknown>[] | null;
            /** @description The payload, as it is in the log. */
            event?: Record<string, unknown> | null;
            event_id: string;
            invocation_id?: string | null;
            /** @description `request`, `response`, `event`, `tool_run`, `run`, `session` or `message`. */
            kind: string;
            parent_call_id?: string | null;
            /** Format: int64 */
            seq: number;
            session_id: string;
            timestamp: string;
            turn_id?: string | null;
        };
        ExportBody: {
            /** @description The case to write, where a person changed it; the log keeps what happened. */
            case?: Record<string, unknown> | null;
            /** @description Another file than the agent's own, below the folder Hotseat was started in. */
            eval_set_path?: string | null;
        };
        ExportView: {
            /** @description `created`, `appended` or `updated`. */
            action: string;
            /** @description The ADK EvalCase. */
            case: Record<string, unknown>;
            eval_id: string;
            path: string;
        };
        /** @description A file inside JSON. */
        FileContent: {
            /** @description Base64. */
            content: string;
            filename?: string | null;
            /** @description One of the supported types. */
            mime_type: string;
            /** @description Pages of a PDF or slides, such as `1-3,7`. */
            pages?: string | null;
            /** @description Sheets of a workbook. */
            sheets?: string[] | null;
        };
        ForkBody: {
            /** @description The turn to answer differently. */
            turn_id: string;
        };
        /** @description An answer to a function call that ADK put to the user. */
        FunctionResponse: {
            /** @description The id of the call. */
            id: string;
            /** @description The name of the call. */
            name: string;
            /** @description What to say. */
            response: Record<string, unknown>;
        };
        HandOverBody: {
            /** @description The name of whoever is to answer. */
            to: string;
        };
        Health: {
            /** @description Sessions that were talked in lately over REST. */
            active_sessions: number;
            /** @description The one agent that is served, if it is one. */
            agent_name?: string | null;
            /** @description There is an agent that can be run. */
            agent_ready: boolean;
            /** @description Agents that can be run. */
            agents: number;
            /** @description What keeps agents from working. */
            problems?: string[];
            /** Format: int64 */
            sessions: number;
            /** @description People can sign in with an account from elsewhere, at `/auth/login`. */
            sign_in: boolean;
            /** @description `initializing`, `ready`, `running`, `shutting_down` or `stopped`. */
            state: components["schemas"]["ServerState"];
            /** @description `healthy` or `unhealthy`. */
            status: string;
            /** Format: double */
            uptime_seconds: number;
            version: string;
        };
        /** @description Where words were found. */
        HitView: {
            author: string;
            kind: string;
            /** Format: int64 */
            seq: number;
            session_id: string;
            /** @description A piece of the text; what was found stands between U+0002 and U+0003. */
            snippet: string;
            timestamp: string;
            title?: string | null;
        };
        Ingested: {
            /** @description How many of the given events are new. */
            appended: number;
            /**
             * Format: int64
             * @description The last event of the log now.
             */
            last_seq: number;
        };
        Latencies: {
            append: components["schemas"]["LatencyView"];
            read: components["schemas"]["LatencyView"];
        };
        LatencyView: {
            /** Format: int64 */
            count: number;
            /** Format: double */
            p50_ms: number;
            /** Format: double */
            p95_ms: number;
            /** Format: double */
            p99_ms: number;
        };
        Limits: {
            /** Format: double */
            cleanup_interval_minutes: number;
            compress_over_bytes?: number | null;
            /** Format: double */
            empty_session_minutes?: number | null;
            ingest: boolean;
            max_event_bytes: number;
            /** Format: int64 */
            max_events_per_session?: number | null;
            /** Format: int64 */
            max_messages_per_session: number;
            /** Format: int64 */
            max_sessions?: number | null;
            /** Format: int64 */
            max_store_bytes?: number | null;
            /** Format: double */
            session_ttl_hours?: number | null;
        };
        /** @description A page of a list. */
        List_Artifact: {
            /** @description What is on it. */
            items: {
                /** @description The media type of the newest version. */
                mime_type?: string | null;
                /** @description Its name. */
                name: string;
                /**
                 * Format: int64
                 * @description The size of the newest version, in bytes.
                 */
                size?: number | null;
                /** @description Its versions, oldest first. */
                versions?: number[];
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_AuditView: {
            /** @description What is on it. */
            items: {
                /** @description What they did, as in `turn.decided`. */
                action: string;
                /** @description The name of a user; `owner` for the installation's own token. */
                actor: string;
                at: string;
                detail: Record<string, unknown>;
                /** Format: int64 */
                seq: number;
                session_id?: string | null;
                /** @description To whom or what. */
                subject: string;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_EvalRun: {
            /** @description What is on it. */
            items: {
                agent: string;
                /** @description For each case: `{eval_id, passed, metrics: [{name, score, threshold, passed}]}`. */
                cases: Record<string, unknown>[];
                ended_at?: string | null;
                eval_run_id: string;
                /** @description What `adk eval` printed. */
                output: string;
                /** @description The EvalSet file. */
                path: string;
                started_at: string;
                status: components["schemas"]["EvalStatus"];
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_EvalSetRow: {
            /** @description What is on it. */
            items: {
                agent?: string | null;
                /** @description How many it has. */
                cases: number;
                /** @description Why it cannot be read. */
                error?: string | null;
                eval_set_id?: string | null;
                modified_at?: string | null;
                name?: string | null;
                path: string;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_EventView: {
            /** @description What is on it. */
            items: {
                agent_name: string;
                author: string;
                branch?: string | null;
                /** @description With `view=history`: the history entries it adds. */
                entries?: Record<string, unknown>[] | null;
                /** @description The payload, as it is in the log. */
                event?: Record<string, unknown> | null;
                event_id: string;
                invocation_id?: string | null;
                /** @description `request`, `response`, `event`, `tool_run`, `run`, `session` or `message`. */
                kind: string;
                parent_call_id?: string | null;
                /** Format: int64 */
                seq: number;
                session_id: string;
                timestamp: string;
                turn_id?: string | null;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_HitView: {
            /** @description What is on it. */
            items: {
                author: string;
                kind: string;
                /** Format: int64 */
                seq: number;
                session_id: string;
                /** @description A piece of the text; what was found stands between U+0002 and U+0003. */
                snippet: string;
                timestamp: string;
                title?: string | null;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_MessageView: {
            /** @description What is on it. */
            items: {
                content: string;
                id: string;
                metadata?: Record<string, unknown> | null;
                /** @description `user`, `assistant`, or what its writer said. */
                role: string;
                timestamp: string;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_SessionView: {
            /** @description What is on it. */
            items: {
                /** @description ADK's own id of it. */
                adk_id: string;
                /** @description With `include=state`: the state that ADK shows. */
                adk_state?: Record<string, unknown> | null;
                agent?: string | null;
                app_name: string;
                /**
                 * Format: int64
                 * @description Bytes of its payloads.
                 */
                bytes: number;
                created_at: string;
                current_phase?: string | null;
                description?: string | null;
                error?: string | null;
                /**
                 * Format: int64
                 * @description Raw ADK events.
                 */
                event_count: number;
                /** @description With `include=events`. */
                events?: components["schemas"]["EventView"][] | null;
                final_report?: string | null;
                /** @description Somebody tried to get into it too often. */
                flagged: boolean;
                /** @description With `include=history`. */
                history?: Record<string, unknown>[] | null;
                id: string;
                /** Format: int64 */
                last_seq: number;
                /** Format: int64 */
                message_count: number;
                /** @description With `include=messages`. */
                messages?: components["schemas"]["MessageView"][] | null;
                /**
                 * Format: int32
                 * @description How many times ADK waits for the user: for a confirmation, a credential, an input.
                 */
                open_requests: number;
                /** Format: int32 */
                pending_turns: number;
                /**
                 * Format: double
                 * @description From 0 to 1, as its events tell.
                 */
                progress?: number | null;
                /**
                 * Format: int64
                 * @description Entries up to this one were removed.
                 */
                removed_through: number;
                run?: components["schemas"]["RunView"] | null;
                security?: components["schemas"]["SecurityView"] | null;
                /** @description By which door it came: `web`, `plugin`, `adk`, `rest` or `ag-ui`. */
                source: string;
                /** @description `awaiting_query`, `active` or `completed`. */
                state: string;
                /** @description `active` or `completed`. */
                status: string;
                title?: string | null;
                updated_at: string;
                user_id: string;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_TokenView: {
            /** @description What is on it. */
            items: {
                created_at: string;
                expires_at?: string | null;
                /** Format: uuid */
                id: string;
                label: string;
                /** @description To within a minute. */
                last_used_at?: string | null;
                /** @description Its first letters. */
                prefix: string;
                revoked_at?: string | null;
                /** @description The token itself: only in the answer that made it, and nowhere later. */
                token?: string | null;
                user: string;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_TurnJson: {
            /** @description What is on it. */
            items: {
                agent_name: string;
                branch?: string | null;
                claim?: components["schemas"]["ClaimView"] | null;
                created_at: string;
                /** @description It is the one to answer now. */
                head: boolean;
                invocation_id?: string | null;
                parent_call_id?: string | null;
                /** @description Place in the session's queue, from 1; null once it is answered. */
                position?: number | null;
                /** @description The model request: `{contents, system_instruction, tools, output_schema, state, raw}`. */
                request?: Record<string, unknown> | null;
                /** Format: int64 */
                seq: number;
                session_id: string;
                turn_id: string;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description A page of a list. */
        List_UserView: {
            /** @description What is on it. */
            items: {
                created_at: string;
                /** Format: uuid */
                id: string;
                name: string;
                revoked_at?: string | null;
                /** @description `viewer`, `developer` or `admin`. */
                role: string;
            }[];
            /** @description Where the next page starts. */
            next_cursor?: string | null;
        };
        /** @description An agent that could not be loaded, or a worker that could not be started. */
        LoadProblem: {
            /** @description What happened. */
            message: string;
            /** @description What was asked for, as the user wrote it. */
            source: string;
            /** @description Where, in the user's code. */
            traceback?: string | null;
        };
        MeView: {
            /** @description `owner` for the installation's own token. */
            name: string;
            /** @description What they may do; `null` for those who see their own sessions only. */
            role?: string | null;
        };
        /** @description A message. */
        MessageView: {
            content: string;
            id: string;
            metadata?: Record<string, unknown> | null;
            /** @description `user`, `assistant`, or what its writer said. */
            role: string;
            timestamp: string;
        };
        Minute: {
            /** Format: int64 */
            errors: number;
            /** Format: int64 */
            events: number;
            /** @description Its beginning. */
            minute: string;
        };
        NewAdkSessionBody: {
            /**
             * @description Raw events to begin with.
             * @default null
             */
            events: Record<string, unknown>[] | null;
            /**
             * @description One is made if it is left out.
             * @default null
             */
            session_id: string | null;
            /** @description What it begins with. */
            state?: Record<string, unknown> | null;
        };
        NewSession: {
            /** @description The agent to talk to. */
            agent?: string | null;
            /** @description A label; cut at 500 characters. */
            description?: string | null;
            /** @description ADK's user id; `local` if left out. */
            user_id?: string | null;
        };
        NewTokenBody: {
            /**
             * Format: int64
             * @description Hours after which it ends; never, if left out.
             */
            expires_in_hours?: number | null;
            /** @description What it is for. */
            label?: string | null;
        };
        NewUserBody: {
            /** @description Lower-case letters, digits and `. _ - + @`. */
            name: string;
            /** @description `viewer`, `developer` or `admin`. */
            role: string;
        };
        PatchBody: {
            /** @description Values of the state, by key. */
            state_delta: Record<string, unknown>;
        };
        PreviewView: {
            /** @description The ADK EvalCase. */
            case: Record<string, unknown>;
            eval_id: string;
            /** @description The file is there already. */
            exists: boolean;
            /** @description The EvalSet file it would go into. */
            path: string;
        };
        /** @description An error answer. */
        Problem: {
            claim?: components["schemas"]["Claimed"] | null;
            /** @description Stable, for programs. */
            code: string;
            /** @description For `turn_answered`: the answer that is there. */
            decision?: Record<string, unknown> | null;
            /** @description What happened, and what to do next. */
            detail: string;
            /** @description For 422: where in the body, by JSON pointer, and why. */
            errors?: Record<string, unknown>[];
            /** @description The id of the request, which joins this answer to the server's log. */
            instance: string;
            /** @description For `run_in_progress`: the run that goes on. */
            run_id?: string | null;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description The status in words. */
            title: string;
            /** @description Always `about:blank`: `code` tells problems apart. */
            type: string;
        };
        PutCase: {
            /** @description An ADK EvalCase. */
            case: Record<string, unknown>;
            /** @description Where to put it, if its `eval_id` is new in the file. */
            index?: number | null;
            path: string;
        };
        PutView: {
            /** @description `created`, `appended` or `updated`. */
            action: string;
            case: Record<string, unknown>;
        };
        /** @description Give one of them. */
        QueryBody: {
            /** @description Answers to what ADK asked the user. */
            function_responses?: components["schemas"]["FunctionResponse"][] | null;
            /** @description For agents with an input schema. */
            structured?: Record<string, unknown> | null;
            text?: string | null;
        };
        /** @description A session as a record: where it stands, and what was said. */
        RecordView: Record<string, unknown> & {
            created_at: string;
            current_phase?: string | null;
            error?: string | null;
            /** Format: int64 */
            event_count?: number | null;
            /** @description As they arrived, oldest first. */
            events?: Record<string, unknown>[] | null;
            final_report?: string | null;
            id: string;
            messages?: components["schemas"]["MessageView"][] | null;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            progress?: number | null;
            /** @description As its events tell; `pending` until they do, `completed` once the session is. */
            status: string;
            title?: string | null;
            updated_at: string;
            user_id: string;
        };
        /** @description What was removed, ever, without being deleted by hand. */
        Removed: {
            /**
             * Format: int64
             * @description Sessions without a word.
             */
            empty: number;
            /**
             * Format: int64
             * @description Events, with their sessions or without.
             */
            events: number;
            /**
             * Format: int64
             * @description Sessions that had to make room.
             */
            evicted: number;
            /**
             * Format: int64
             * @description Sessions that nobody touched for too long.
             */
            expired: number;
        };
        RemovedView: {
            /** @description What was removed; put it back with `PUT`. */
            case: Record<string, unknown>;
            /** @description Where it stood. */
            index: number;
        };
        RoleBody: {
            /** @description `viewer`, `developer` or `admin`. */
            role: string;
        };
        /** @description What is going on in a session: the data of `room` in its stream. */
        RoomView: {
            claims: components["schemas"]["ClaimView"][];
            /** @description Who is looking at the session. */
            present: string[];
            /** @description Who is typing. */
            typing: string[];
        };
        /** @description What ADK's clients send. */
        RunAgentRequest: {
            appName: string;
            /** @description A genai Content. */
            newMessage?: Record<string, unknown> | null;
            /** @description Who answers for the model in this run: `human`, `model` or `replay`. Not ADK's. */
            seat?: string | null;
            sessionId: string;
            stateDelta?: Record<string, unknown> | null;
            /** @description Whether pieces of answers come as partial events. */
            streaming?: boolean;
            userId: string;
        };
        /** @description The run that is going on. */
        RunView: {
            run_id: string;
            since: string;
            /** @description `queued` or `started`. */
            status: string;
            /** @description A worker that can go on with it is connected. */
            worker_connected: boolean;
        };
        /** @description What somebody says. */
        Said: {
            /** @description Up to 10 files. */
            files?: components["schemas"]["FileContent"][] | null;
            /** @description 1 to 10,000 characters, not blank. */
            message: string;
            /** @description ULID of the session to go on with. A new one is made if it is left out. */
            session_id?: string | null;
        };
        /** @description What protects sessions; none of it can be turned off. */
        SecurityFeatures: {
            csrf: boolean;
            enumeration_detection: boolean;
            user_binding: boolean;
        };
        SecurityThresholds: {
            /** Format: int64 */
            enumeration_window_seconds: number;
            /**
             * Format: int64
             * @description After so many, a session is flagged.
             */
            max_failed_attempts: number;
        };
        /** @description What readers did to a session. */
        SecurityView: {
            /** Format: int64 */
            failed_access_attempts: number;
            is_security_flagged: boolean;
            last_access_at?: string | null;
            security_warnings: components["schemas"]["WarningView"][];
        };
        /** @description One of the messages of a stream. */
        ServerSentEvent: {
            /** @description JSON. */
            data: string;
            /** @description What sort of message it is, where there are several. */
            event?: string | null;
            /** @description From where a reader can resume. */
            id?: string | null;
        };
        /**
         * @description How far a server is.
         * @enum {string}
         */
        ServerState: "initializing" | "ready" | "running" | "shutting_down" | "stopped";
        /** @description A session. */
        SessionView: {
            /** @description ADK's own id of it. */
            adk_id: string;
            /** @description With `include=state`: the state that ADK shows. */
            adk_state?: Record<string, unknown> | null;
            agent?: string | null;
            app_name: string;
            /**
             * Format: int64
             * @description Bytes of its payloads.
             */
            bytes: number;
            created_at: string;
            current_phase?: string | null;
            description?: string | null;
            error?: string | null;
            /**
             * Format: int64
             * @description Raw ADK events.
             */
            event_count: number;
            /** @description With `include=events`. */
            events?: components["schemas"]["EventView"][] | null;
            final_report?: string | null;
            /** @description Somebody tried to get into it too often. */
            flagged: boolean;
            /** @description With `include=history`. */
            history?: Record<string, unknown>[] | null;
            id: string;
            /** Format: int64 */
            last_seq: number;
            /** Format: int64 */
            message_count: number;
            /** @description With `include=messages`. */
            messages?: components["schemas"]["MessageView"][] | null;
            /**
             * Format: int32
             * @description How many times ADK waits for the user: for a confirmation, a credential, an input.
             */
            open_requests: number;
            /** Format: int32 */
            pending_turns: number;
            /**
             * Format: double
             * @description From 0 to 1, as its events tell.
             */
            progress?: number | null;
            /**
             * Format: int64
             * @description Entries up to this one were removed.
             */
            removed_through: number;
            run?: components["schemas"]["RunView"] | null;
            security?: components["schemas"]["SecurityView"] | null;
            /** @description By which door it came: `web`, `plugin`, `adk`, `rest` or `ag-ui`. */
            source: string;
            /** @description `awaiting_query`, `active` or `completed`. */
            state: string;
            /** @description `active` or `completed`. */
            status: string;
            title?: string | null;
            updated_at: string;
            user_id: string;
        };
        Size: {
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            events: number;
            id: string;
            title?: string | null;
        };
        /** @description Figures about everything. */
        Stats: {
            /** Format: int64 */
            active_sessions: number;
            /** Format: double */
            avg_events_per_session: number;
            /** Format: double */
            avg_messages_per_session: number;
            cleanup_status: components["schemas"]["Cleanup"];
            /** Format: int64 */
            completed_sessions: number;
            config: components["schemas"]["Limits"];
            /**
             * Format: double
             * @description What the events would take in memory, at 600 bytes each.
             */
            estimated_events_memory_kb: number;
            /** @description The last hour; minutes without events are left out. */
            events_per_minute: components["schemas"]["Minute"][];
            /** Format: int64 */
            flagged_sessions: number;
            largest_sessions: components["schemas"]["Size"][];
            latency: components["schemas"]["Latencies"];
            /** Format: int64 */
            max_sessions?: number | null;
            /**
             * Format: int64
             * @description Events that were too large, since the server started.
             */
            refused_events: number;
            security_features: components["schemas"]["SecurityFeatures"];
            security_thresholds: components["schemas"]["SecurityThresholds"];
            /** Format: int64 */
            sessions_with_warnings: number;
            /**
             * Format: int64
             * @description Bytes of the database.
             */
            store_bytes: number;
            tokens: components["schemas"]["Tokens"];
            tools: components["schemas"]["Tool"][];
            /**
             * Format: int64
             * @description Bytes of payloads, as they arrived.
             */
            total_bytes: number;
            /**
             * Format: int64
             * @description Entries of all logs, of every kind.
             */
            total_entries: number;
            /**
             * Format: int64
             * @description How often a caller began to ask for many sessions that are not theirs, since the start.
             */
            total_enumeration_attempts: number;
            /**
             * Format: int64
             * @description Raw ADK events.
             */
            total_events: number;
            /** Format: int64 */
            total_failed_attempts: number;
            /** Format: int64 */
            total_messages: number;
            /** Format: int64 */
            total_sessions: number;
        };
        /** @description A thread as it stands. */
        ThreadView: {
            messages: Record<string, unknown>[];
            /** @description Calls that wait for their results. */
            pendingToolCallIds: string[];
            /** @description The run that is going on, by the client's id. */
            runId?: string | null;
            /** @description Its session here. */
            sessionId: string;
            state: Record<string, unknown>;
            threadId: string;
        };
        /** @description Tokens, as the models told. */
        TokenUsage: {
            /** Format: int64 */
            completion_tokens: number;
            /** Format: int64 */
            prompt_tokens: number;
            /** Format: int64 */
            total_tokens: number;
        };
        TokenView: {
            created_at: string;
            expires_at?: string | null;
            /** Format: uuid */
            id: string;
            label: string;
            /** @description To within a minute. */
            last_used_at?: string | null;
            /** @description Its first letters. */
            prefix: string;
            revoked_at?: string | null;
            /** @description The token itself: only in the answer that made it, and nowhere later. */
            token?: string | null;
            user: string;
        };
        Tokens: {
            /** Format: int64 */
            output: number;
            /** Format: int64 */
            prompt: number;
            /** Format: int64 */
            total: number;
        };
        Tool: {
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            errors: number;
            /** Format: double */
            max_ms: number;
            name: string;
            /**
             * Format: int64
             * @description How often its time was taken.
             */
            timed: number;
            /** Format: double */
            total_ms: number;
        };
        /** @description A tool that was called. */
        ToolCallInfo: {
            arguments: Record<string, unknown>;
            id: string;
            name: string;
            /** @description `success`, `error`, or `pending` while it waits for somebody. */
            status: string;
        };
        /** @description A turn. */
        TurnJson: {
            agent_name: string;
            branch?: string | null;
            claim?: components["schemas"]["ClaimView"] | null;
            created_at: string;
            /** @description It is the one to answer now. */
            head: boolean;
            invocation_id?: string | null;
            parent_call_id?: string | null;
            /** @description Place in the session's queue, from 1; null once it is answered. */
            position?: number | null;
            /** @description The model request: `{contents, system_instruction, tools, output_schema, state, raw}`. */
            request?: Record<string, unknown> | null;
            /** Format: int64 */
            seq: number;
            session_id: string;
            turn_id: string;
        };
        UserView: {
            created_at: string;
            /** Format: uuid */
            id: string;
            name: string;
            revoked_at?: string | null;
            /** @description `viewer`, `developer` or `admin`. */
            role: string;
        };
        ValidateBody: {
            path: string;
        };
        /** @description What ADK's own models say of a file. */
        Validation: {
            /** @description Where and what: `{path, message}`. */
            errors?: Record<string, unknown>[];
            valid: boolean;
        };
        WarningView: {
            at: string;
            code: string;
            message: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
