// A server that speaks the APIs of three models: Messages, Chat Completions and Responses. It answers with a script, and
// keeps all requests of the agent.
import { createServer } from "node:http"

const messages = (step, id) => {
  const block = step.tool ? { type: "tool_use", id: `toolu_${id}`, name: step.tool, input: {} } : { type: "text", text: "" }
  const delta = step.tool
    ? { type: "input_json_delta", partial_json: JSON.stringify(step.input) }
    : { type: "text_delta", text: step.text }
  const usage = { input_tokens: 10, output_tokens: 1 }
  return [
    { type: "message_start", message: { id: `msg_${id}`, type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: step.tool ? "tool_use" : "end_turn" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ]
}

const completions = (step, id) => {
  const of = (delta, finish_reason = null) => ({ id: `c${id}`, object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })
  const call = { index: 0, id: `call_${id}`, type: "function", function: { name: step.tool, arguments: JSON.stringify(step.input) } }
  const usage = { ...of({}), choices: [], usage: { prompt_tokens: step.used ?? 10, completion_tokens: 5, total_tokens: (step.used ?? 10) + 5 } }
  return [of({ role: "assistant", ...(step.tool ? { tool_calls: [call] } : { content: step.text }) }), of({}, step.tool ? "tool_calls" : "stop"), usage, "[DONE]"]
}

const responses = (step, id) => {
  const item = step.tool
    ? { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: step.tool, arguments: JSON.stringify(step.input) }
    : { type: "message", id: `m_${id}`, role: "assistant", content: [{ type: "output_text", text: step.text, annotations: [] }] }
  const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 }
  return [
    { type: "response.created", response: { id: `r${id}` } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: `r${id}`, usage } },
  ]
}

const APIS = { "/messages": messages, "/chat/completions": completions, "/responses": responses }

// Starts the server. `next` returns the answer to the requests so far: a tool with its input, or a text. `used` is the
// number of tokens of the prompt that the answer reports.
export const startModel = async (next) => {
  const requests = []
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (piece) => (text += piece))
    request.on("end", () => {
      const path = Object.keys(APIS).find((name) => request.url.split("?")[0].endsWith(name))
      if (!path) return response.writeHead(404, { "content-type": "application/json" }).end("{}")
      const body = JSON.parse(text)
      // A request without tools is not a turn of the agent. It asks for a title.
      const isTurn = body.tools?.length > 0
      if (isTurn) requests.push(body)
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const event of APIS[path](isTurn ? next(requests) : { text: "title" }, requests.length)) {
        if (event.type) response.write(`event: ${event.type}\n`)
        response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
      }
      response.end()
    })
  })
  await new Promise((done) => server.listen(0, "127.0.0.1", done))
  const close = () => (server.closeAllConnections(), server.close())
  return { requests, url: `http://127.0.0.1:${server.address().port}`, close }
}
