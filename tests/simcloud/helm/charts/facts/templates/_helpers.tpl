{{- define "facts.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "facts.labels" -}}
app.kubernetes.io/name: {{ include "facts.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "facts.fails" -}}
{{- fail "from a helper" }}
{{- end }}
{{- define "facts.loop" -}}
{{- include "facts.loop" . }}
{{- end }}
