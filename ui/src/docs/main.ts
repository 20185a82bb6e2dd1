// The API in a browser: Swagger UI over the server's own OpenAPI document. A page of its own, so that nobody else loads
// it; the library comes as its authors have packed it.
import library from "swagger-ui-dist/swagger-ui-bundle.js?url";
import "swagger-ui-dist/swagger-ui.css";

declare const SwaggerUIBundle: (options: Record<string, unknown>) => void;

const script = document.createElement("script");
script.src = library;
script.onload = () =>
  SwaggerUIBundle({ url: "/api/v1/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });
document.head.append(script);
