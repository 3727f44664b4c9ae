"""The first lines in the logs of the system's programs, as ``source] text``; those of etcd as fields of JSON objects.

``$NODE_IP``, ``$NODE_NAME``, ``$VERSION``, ``$MEMBER`` and ``$CLUSTER`` (of etcd) stand for the values of the node.
``+0.1`` alone on a line lets a tenth of a second pass.
"""

from typing import Final

ETCD: Final = """\
"caller":"embed/etcd.go:138","msg":"configuring peer listeners","listen-peer-urls":["https://$NODE_IP:2380"]
"caller":"embed/etcd.go:146","msg":"configuring client listeners","listen-client-urls":["https://127.0.0.1:2379","https://$NODE_IP:2379"]
"caller":"embed/etcd.go:323","msg":"starting an etcd server","etcd-version":"3.6.8","git-sha":"4e814e2","go-version":"go1.24.13","go-os":"linux","go-arch":"amd64","max-cpu-set":4,"name":"$NODE_NAME","data-dir":"/var/lib/etcd","snapshot-count":10000
"caller":"storage/backend.go:80","msg":"opened backend db","path":"/var/lib/etcd/member/snap/db","took":"14.220318ms"
"logger":"raft","caller":"v3@v3.6.0/node.go:370","msg":"raft.node: $MEMBER elected leader $MEMBER at term 2"
"caller":"etcdserver/server.go:1820","msg":"published local member to cluster through raft","local-member-id":"$MEMBER","local-member-attributes":"{Name:$NODE_NAME ClientURLs:[https://$NODE_IP:2379]}","cluster-id":"$CLUSTER","publish-timeout":"7s"
"caller":"embed/serve.go:138","msg":"ready to serve client requests"
"caller":"embed/serve.go:283","msg":"serving client traffic securely","traffic":"grpc+http","address":"127.0.0.1:2379"
"caller":"embed/serve.go:283","msg":"serving client traffic securely","traffic":"grpc+http","address":"$NODE_IP:2379"
"""
API_SERVER: Final = """\
options.go:263] external host was not specified, using $NODE_IP
server.go:150] Version: $VERSION
server.go:152] "Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""
instance.go:239] Using reconciler: lease
handler.go:304] Adding GroupVersion apps v1 to ResourceManager
handler.go:304] Adding GroupVersion apiregistration.k8s.io v1 to ResourceManager
secure_serving.go:214] Serving securely on [::]:6443
apf_controller.go:377] Starting API Priority and Fairness config controller
cluster_authentication_trust_controller.go:459] "Starting cluster_authentication_trust_controller controller"
+0.1
shared_informer.go:388] "Caches are synced" controller="cluster_authentication_trust_controller"
storage_scheduling.go:153] all system priority classes are created successfully or already exist.
"""
CONTROLLER_MANAGER: Final = """\
serving.go:411] Generated self-signed cert in-memory
controllermanager.go:204] "Starting" version="$VERSION"
controllermanager.go:206] "Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""
configmap_cafile_content.go:205] "Starting controller" name="client-ca::kube-system::extension-apiserver-authentication::client-ca-file"
shared_informer.go:381] "Waiting for caches to sync" controller="client-ca::kube-system::extension-apiserver-authentication::client-ca-file"
secure_serving.go:214] Serving securely on 127.0.0.1:10257
tlsconfig.go:243] "Starting DynamicServingCertificateController"
leaderelection.go:258] "Attempting to acquire leader lease..." lock="kube-system/kube-controller-manager"
+0.018
leaderelection.go:272] "Successfully acquired lease" lock="kube-system/kube-controller-manager"
deployment_controller.go:180] "Starting controller" logger="deployment-controller" controller="deployment"
replica_set.go:285] "Starting controller" logger="replicaset-controller" name="replicaset"
node_lifecycle_controller.go:443] "Starting node controller" logger="node-lifecycle-controller"
+0.082
shared_informer.go:388] "Caches are synced" controller="client-ca::kube-system::extension-apiserver-authentication::client-ca-file"
+0.018
shared_informer.go:388] "Caches are synced" controller="garbage collector"
garbagecollector.go:169] "Proceeding to collect garbage" logger="garbage-collector-controller"
"""
SCHEDULER: Final = """\
serving.go:411] Generated self-signed cert in-memory
server.go:178] "Starting Kubernetes Scheduler" version="$VERSION"
server.go:180] "Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""
configmap_cafile_content.go:205] "Starting controller" name="client-ca::kube-system::extension-apiserver-authentication::client-ca-file"
shared_informer.go:381] "Waiting for caches to sync" controller="client-ca::kube-system::extension-apiserver-authentication::client-ca-file"
secure_serving.go:214] Serving securely on 127.0.0.1:10259
tlsconfig.go:243] "Starting DynamicServingCertificateController"
+0.1
shared_informer.go:388] "Caches are synced" controller="client-ca::kube-system::extension-apiserver-authentication::client-ca-file"
+0.06
leaderelection.go:258] "Attempting to acquire leader lease..." lock="kube-system/kube-scheduler"
+0.018
leaderelection.go:272] "Successfully acquired lease" lock="kube-system/kube-scheduler"
"""
KINDNET: Final = """\
main.go:109] connected to apiserver: https://kind-control-plane:6443
main.go:139] hostIP = $NODE_IP
podIP = $NODE_IP
main.go:148] setting mtu 1500 for CNI
main.go:178] kindnetd IP family: "ipv4"
main.go:182] noMask IPv4 subnets: [10.244.0.0/16]
+0.1
shared_informer.go:320] Caches are synced for kube-network-policies
controller.go:711] "Syncing nftables rules"
"""
KUBE_PROXY: Final = """\
server_linux.go:49] "Using iptables proxy"
server.go:228] "Successfully retrieved NodeIPs" NodeIPs=["$NODE_IP"]
server_linux.go:137] "Using iptables Proxier"
proxier.go:241] "Setting route_localnet=1 to allow node-ports on localhost; to change this either disable iptables.localhostNodePorts (--iptables-localhost-nodeports) or set nodePortAddresses (--nodeport-addresses) to filter loopback addresses" ipFamily="IPv4"
server.go:539] "Version info" version="$VERSION"
server.go:541] "Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""
config.go:200] "Starting service config controller"
shared_informer.go:381] "Waiting for caches to sync" controller="service config"
config.go:106] "Starting endpoint slice config controller"
shared_informer.go:381] "Waiting for caches to sync" controller="endpoint slice config"
config.go:403] "Starting serviceCIDR config controller"
shared_informer.go:381] "Waiting for caches to sync" controller="serviceCIDR config"
config.go:309] "Starting node config controller"
shared_informer.go:381] "Waiting for caches to sync" controller="node config"
shared_informer.go:388] "Caches are synced" controller="node config"
+0.103
shared_informer.go:388] "Caches are synced" controller="serviceCIDR config"
shared_informer.go:388] "Caches are synced" controller="endpoint slice config"
shared_informer.go:388] "Caches are synced" controller="service config"
"""
LOCAL_PATH: Final = """\
controller.go:824] "Starting provisioner controller" component="rancher.io/local-path"
controller.go:873] "Started provisioner controller" component="rancher.io/local-path"
"""
KUBELET: Final = """\
server.go:545] "Kubelet version" kubeletVersion="$VERSION"
server.go:547] "Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""
server.go:985] "Client rotation is on, will bootstrap in background"
dynamic_cafile_content.go:161] "Starting controller" name="client-ca-bundle::/etc/kubernetes/pki/ca.crt"
server.go:1448] "Using cgroup driver setting received from the CRI runtime" cgroupDriver="systemd"
topology_manager.go:172] "Creating topology manager with none policy"
kubelet.go:485] "Attempting to sync node with API server"
kubelet.go:386] "Adding static pod path" path="/etc/kubernetes/manifests"
kuberuntime_manager.go:308] "Container runtime initialized" containerRuntime="containerd" version="v2.1.9" apiVersion="v1"
server.go:1285] "Started kubelet"
server.go:193] "Starting to listen" address="0.0.0.0" port=10250
volume_manager.go:310] "Starting Kubelet Volume Manager"
factory.go:222] Registration of the containerd container factory successfully
status_manager.go:277] "Starting to sync pod status with apiserver"
kubelet.go:2622] "Starting kubelet main sync loop"
eviction_manager.go:194] "Eviction manager: starting control loop"
kubelet_node_status.go:75] "Attempting to register node" node="$NODE_NAME"
kubelet_node_status.go:78] "Successfully registered node" node="$NODE_NAME"
apiserver.go:51] "Watching apiserver"
desired_state_of_world_populator.go:154] "Finished populating initial desired state of world"
"""
