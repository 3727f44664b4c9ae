{{/* The configuration that all services read: where everything is. */}}
{{- define "social-network.service-config.json" -}}
{{- $ports := dict "service" 9090 "mongodb" 27017 "redis" 6379 "memcached" 11211 "media" 8081 -}}
{{- $most := .Values.global.connections -}}
{{- $config := dict "secret" .Values.global.secret "ssl" (dict "enabled" false "caPath" "/keys/CA.pem") -}}
{{- range $name, $own := .Values -}}
{{- $port := get $ports (default "" $own.kind) -}}
{{- if $port -}}
{{- $entry := dict "addr" $name "port" $port "connections" $most.most "timeout_ms" $most.timeoutMs "keepalive_ms" $most.keepaliveMs -}}
{{- if eq $own.kind "memcached" -}}{{- $_ := set $entry "binary_protocol" 1 -}}{{- end -}}
{{- if eq $own.kind "redis" -}}{{- $_ := set $entry "use_cluster" 0 -}}{{- $_ := set $entry "use_replica" 0 -}}{{- end -}}
{{- with $own.netif -}}{{- $_ := set $entry "netif" . -}}{{- end -}}
{{- $_ := set $config $name $entry -}}
{{- end -}}
{{- end -}}
{{ $config | toPrettyJson }}
{{- end }}

{{/* What the services' Jaeger client reads. */}}
{{- define "social-network.jaeger-config.yml" -}}
disabled: false
reporter:
  logSpans: false
  localAgentHostPort: {{ .Values.global.tracing.agent | quote }}
  queueSize: 1000000
  bufferFlushInterval: 10
sampler:
  type: {{ .Values.global.tracing.sampler.type | quote }}
  param: {{ .Values.global.tracing.sampler.param }}
{{- end }}

{{/* What nginx's Jaeger client reads. */}}
{{- define "social-network.jaeger-config.json" -}}
{{- $tracing := .Values.global.tracing -}}
{{ dict "service_name" "nginx-web-server" "disabled" false "reporter" (dict "logSpans" false "localAgentHostPort" $tracing.agent) "sampler" $tracing.sampler | toPrettyJson }}
{{- end }}

{{- define "social-network.mongod.conf" -}}
net:
  tls:
    mode: {{ .mode }}
    {{- if ne .mode "disabled" }}
    certificateKeyFile: {{ .certificateKeyFile }}
    {{- end }}
{{- end }}
