{{/*
One workload: its ConfigMap, its Service and its Deployment.
Called with a dict of
  root   the chart's top
  name   of the workload
  own    its values
  ports  a list of {port, targetPort, protocol}
  files  a list of {key, path, text}: what its ConfigMap holds, and where each is mounted
  env, command, args, type   as a container and a Service have them; all may be missing
*/}}
{{- define "social-network.workload" -}}
{{- $global := .root.Values.global -}}
{{- $own := .own -}}
{{- $name := .name -}}
{{- if .files }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}
  labels:
    service: {{ $name }}
data:
  {{- range .files }}
  {{ .key }}: |-
    {{- .text | trim | nindent 4 }}
  {{- end }}
{{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels:
    service: {{ $name }}
spec:
  type: {{ .type | default "ClusterIP" }}
  ports:
    {{- range .ports }}
    - name: {{ ternary (print .port "-udp") (print .port) (eq (default "TCP" .protocol) "UDP") | quote }}
      port: {{ .port }}
      targetPort: {{ .targetPort | default .port }}
      {{- with .protocol }}
      protocol: {{ . }}
      {{- end }}
      {{- with .nodePort }}
      nodePort: {{ . }}
      {{- end }}
    {{- end }}
  selector:
    service: {{ $name }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    service: {{ $name }}
spec:
  replicas: {{ $own.replicas | default $global.replicas }}
  selector:
    matchLabels:
      service: {{ $name }}
  template:
    metadata:
      labels:
        service: {{ $name }}
        app: {{ $name }}
    spec:
      hostname: {{ $name }}
      {{- with $own.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ $name }}
          image: {{ $own.image | default (get $global.images $own.kind) }}
          imagePullPolicy: {{ $own.imagePullPolicy | default $global.imagePullPolicy }}
          {{- with .command }}
          command:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with .args }}
          args:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with .env }}
          env:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            {{- range .ports }}
            - containerPort: {{ .targetPort | default .port }}
              {{- with .protocol }}
              protocol: {{ . }}
              {{- end }}
            {{- end }}
          {{- with $own.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- if or .files .secret }}
          volumeMounts:
            {{- range .files }}
            - name: {{ $name }}-config
              mountPath: {{ .path }}
              subPath: {{ .key }}
            {{- end }}
            {{- with .secret }}
            - name: tls
              mountPath: /etc/tls
              readOnly: true
            {{- end }}
          {{- end }}
      {{- if or .files .secret }}
      volumes:
        {{- if .files }}
        - name: {{ $name }}-config
          configMap:
            name: {{ $name }}
        {{- end }}
        {{- with .secret }}
        - name: tls
          secret:
            secretName: {{ . }}
        {{- end }}
      {{- end }}
{{- end }}
