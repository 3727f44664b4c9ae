"""Indexed and associative arrays."""

CASES = [
    r"""a=(x y z); echo $a ${a[0]} ${a[1]} ${a[-1]} ${a[@]} ${a[*]} ${#a[@]} "${a[@]}" """,
    r"""a=(); echo ${#a[@]} "[${a[@]}]"; a=(''); echo ${#a[@]}; a[5]=five; echo ${#a[@]} ${!a[@]} ${a[5]} "[${a[3]}]" """,
    r"""a=(1 2 3); a+=(4 5); a[1]=two; a[10]=ten; echo ${a[@]}; echo ${!a[@]}; unset a[0]; echo ${a[@]} ${#a[@]}; unset 'a[10]'; echo ${!a[@]}""",
    r"""a=([3]=d [1]=b c); echo ${!a[@]} ${a[@]}; a=(x [5]=y z); echo ${!a[@]}; a[2]+=app; echo ${a[2]}; a[2]+=more; echo ${a[2]}""",
    r"""a=(a b c); for x in "${a[@]}"; do echo "<$x>"; done; for i in "${!a[@]}"; do echo "$i=${a[i]}"; done; for ((i=0;i<${#a[@]};i++)); do echo ${a[$i]}; done""",
    r"""a=('one two' three); for x in ${a[@]}; do echo $x; done; for x in "${a[*]}"; do echo "$x"; done; b=("${a[@]}"); echo ${#b[@]}; c=(${a[@]}); echo ${#c[@]}""",
    r"""s='a b c'; a=($s); echo ${#a[@]} ${a[2]}; IFS=,; s=x,y,z; a=($s); echo ${a[1]}; unset IFS; a=($(seq 3)); echo ${a[@]}; a=(*.nomatch); echo ${a[0]}; a=({1..3} {a,b}); echo ${#a[@]}""",
    r"""declare -A m; m[one]=1; m[two]=2; m['with space']=3; echo ${m[one]} ${m['with space']} ${#m[@]}; k=two; echo ${m[$k]}; unset m[one]; echo ${#m[@]} "${m[one]-gone}" """,
    r"""declare -A m=([a]=1 [b]=2 [c]=3); for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort; echo ${m[@]} ${!m[@]}; m+=([d]=4 [a]=9); echo ${m[a]} ${#m[@]}""",
    r"""declare -A m=([zeta]=1 [alpha]=2 [mid]=3 [x]=4 [y]=5 [z]=6 [longer key]=7); echo "${!m[@]}"; echo "${m[@]}"; printf '%s\n' "${!m[@]}" """,
    r"""declare -A m; m[$((1+1))]=two; m["a]b"]=x; m['$v']=lit; echo "${m[2]}" "${m['$v']}"; k='a]b'; echo "${m[$k]}"; [[ -v m[2] ]] && echo set; [ -v 'm[nope]' ] || echo unset""",
    r"""declare -A count; for w in a b a c b a; do ((count[$w]++)); done; for k in a b c; do echo $k ${count[$k]}; done; count[a]+=5; echo ${count[a]}""",
    r"""declare -A m=(a 1 b 2); echo ${m[a]} ${m[b]}; declare -A n=([k]=v); declare -p n; m=(); echo ${#m[@]}; unset m; m[x]=1; echo ${!m[@]}""",
    r"""a=(5 3 8 1); IFS=$'\n' sorted=($(sort -n <<< "${a[*]}")); echo "${sorted[@]}"; unset IFS; echo "${a[@]/8/eight}"; printf '%s\n' "${a[@]}" | sort -rn | head -1""",
    r"""a=(1 2 3); b=("${a[@]:1}" 4); echo ${b[@]}; a=("${a[@]}" new); echo ${a[@]}; a=(first "${a[@]}"); echo ${a[@]}; unset 'a[-1]'; echo ${a[@]}; echo ${a[@]: -2}""",
    r"""a=(a b c); echo ${a[5]:-default} ${a[0]:+yes} ${a[@]:+any}; e=(); echo "${e[@]:-none}" ${e[*]+set}. ${#e[*]}; x=scalar; echo ${x[0]} ${x[@]} ${#x[@]} "[${x[1]}]" """,
    r"""x=old; x[1]=new; echo ${x[@]} ${!x[@]}; declare -a y=one; echo ${y[0]}; y=two; echo ${y[@]}; y=(a b); y=c; echo ${y[@]}""",
    r"""a=(1 2 3); a[-1]=last; echo ${a[@]}; a[-5]=bad; echo same
echo next; echo ${a[-5]}; echo $?""",
    r"""a[0]=x; a[01]=y; a[1+1]=z; i=3; a[i]=w; a[$i+1]=v; a["5"]=u; echo ${a[@]}; echo ${a[i-1]} ${a[$((i))]}""",
    r"""a=(x y); f() { local a=(l m n); echo ${a[@]}; a[0]=changed; }; f; echo ${a[@]}; g() { a+=(z); }; g; echo ${a[@]}""",
    r"""a=("$@"); echo ${#a[@]}; set -- p 'q r'; a=("$@"); echo ${#a[@]} "${a[1]}"; set -- "${a[@]}" s; echo $#; args=(-n "two words"); printf '<%s>' "${args[@]}"; echo""",
    r"""cmd=(echo -n hello); "${cmd[@]}"; echo; cmd+=(world); ${cmd[@]}; echo; declare -a opts; opts+=(--a); opts+=(--b=1); echo "${opts[*]}" """,
    r"""a=(c a b); a=($(printf '%s\n' "${a[@]}" | sort)); echo ${a[@]}; mapfile -t b < <(printf '%s\n' "${a[@]}"); echo ${b[2]}; IFS=+; echo "${b[*]}" """,
    r"""a=(1 2 3 4 5); echo ${a[@]:0:2} ${a[@]:4} ${a[@]:5}. ${a[@]:1:${#a[@]}-2}; n=0; for x in ${a[@]}; do ((n+=x)); done; echo $n; echo $(( ${a[1]} * ${a[2]} ))""",
    r"""declare -A m=([x]=1); f() { local -n ref=$1; ref[y]=2; echo ${#ref[@]}; }; f m; echo ${m[y]}; declare -n arr=a; a=(1 2); echo ${arr[1]} ${#arr[@]}; arr+=(3); echo ${a[@]}""",
    r"""readonly -a ro=(1 2); ro[0]=9; echo same
echo ${ro[@]}; ro+=(3); echo same
echo ${#ro[@]}""",
    r"""a=(one two three); echo "${a[@]^}" "${a[@]^^}" "${a[@]#t}" "${a[@]%e}" "${#a[0]}" "${a[1]:1}" "${a[@]/o/0}"; echo "${a[*]//e/E}" """,
    r"""a=(x); [[ ${#a[@]} -gt 0 ]] && echo nonempty; [[ " ${a[*]} " == *" x "* ]] && echo contains; [ "${#a[@]}" -eq 1 ] && echo one; ((${#a[@]})) && echo arith""",
    "declare -A cfg=(\n  [host]=localhost  # comment\n  [port]=8080\n)\necho ${cfg[host]}:${cfg[port]}\na=(\n  one\n  # skip\n  two\n)\necho ${#a[@]}",
    r"""a=(1 2); echo "${a[@]}x" "x${a[@]}" "x${a[@]}y" x"${a[*]}"y; echo ${a[@]}x; set -- "${a[@]/#/p}"; echo $1""",
    r"""unset a; a[3]=x; a+=(y); echo ${!a[@]}; a=([2]=q "${a[@]}"); echo ${!a[@]} ${a[@]}; b=([0]=zero [0]=again); echo ${b[@]}""",
    r"""echo ${nosuch[@]} ${#nosuch[@]} ${nosuch[0]-unset}; nosuch[2]=x; echo ${#nosuch[2]}; a=(a\ b 'c d' "e f"); echo ${#a[@]}; echo "${a[0]}" """,
    r"""x=(1 2 3) y=5; echo ${x[1]} $y; x=(1 2) ; echo ${#x[@]}; z=$x; echo $z; w=(${x[@]} ${x[@]}); echo ${#w[@]}""",
    r"""a[@]=1; echo same
a[*]=1; echo same2
a[]=1; echo $?""",
    r"""declare -ia n=(1+1 2*3); echo ${n[@]}; n[0]=5+5; echo ${n[0]}; n+=(4/2); echo ${n[2]}; declare -a u; declare -u u; u=(ab cd); echo ${u[@]}""",
]
